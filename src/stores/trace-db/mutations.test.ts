import { expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createMutations } from './mutations.ts'
import { firstOf } from './port.ts'

// A server of its own: a change that fails stops all later ones of its table, and all changes are counted.
const server = useTestServer({})

const NO_SIGNAL = new AbortController().signal

it('rejects with the reason of a failed change, and adds no other change of its table before that one is finished', async () => {
  const { traces } = server.stores
  const mutations = createMutations(traces)
  const obj = { project_id: server.newProject(), object_id: 'o', val: 1 }
  await server.post('/obj/create', { obj })
  const fails = ["DELETE WHERE throwIf(object_id = 'o', 'it fails') = 1"]
  const passes = ["DELETE WHERE object_id = 'another'"]
  const added = async (): Promise<number | undefined> => {
    const sql =
      "SELECT count() AS count FROM system.mutations WHERE database = currentDatabase() AND table = 'objects'"
    return (await firstOf(traces.query<{ count: number }>({ sql, params: {} })))?.count
  }
  for (const commands of [fails, fails, passes])
    await expect(mutations.run('objects', commands, {}, NO_SIGNAL)).rejects.toThrow('it fails')
  expect(await added()).toBe(1)
  await traces.command({
    sql: "KILL MUTATION WHERE database = currentDatabase() AND table = 'objects' SYNC",
    params: {},
  })
  await mutations.run('objects', passes, {}, NO_SIGNAL)
})
