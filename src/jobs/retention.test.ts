import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { newId } from '../ids.ts'
import { NO_PEERS } from '../stores/control-db/peers.ts'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { SILENT } from '../test-log.ts'
import { isoIn } from '../time.ts'
import { createJobQueue } from './job-queue.ts'
import { removeFinished } from './queries.ts'

it('removes finished jobs by age and number, and no others', async () => {
  await using control = await openTestControlDb()
  const kind = newId()
  const queue = createJobQueue({ control, log: SILENT, peers: NO_PEERS, leaseMs: 30_000 })
  const nothing = async () => undefined
  const jobs = queue.define({
    kind,
    payload: z.object({}),
    concurrency: 1,
    attemptsMax: 1,
    handle: nothing,
    giveUp: nothing,
  })
  await using _started = await queue.start()
  const rows = (state: 'completed' | 'waiting') =>
    control.selectFrom('jobs').select('id').where('kind', '=', kind).where('state', '=', state).orderBy('id')
  const idsOf = async (state: 'completed' | 'waiting') => (await rows(state).execute()).map(({ id }) => id)
  const added: string[] = []
  for (const id of ['a', 'b', 'c']) {
    added.push(id)
    await jobs.add([{ id, payload: {} }])
    await vi.waitFor(async () => expect(await idsOf('completed')).toEqual(added), { timeout: 60_000 })
  }
  await jobs.add([{ id: 'waits', payload: {}, runAt: isoIn(3_600_000) }])
  await removeFinished(control, { kind, before: isoIn(-3_600_000), keep: 2 })
  expect(await idsOf('completed')).toEqual(['b', 'c'])
  await removeFinished(control, { kind, before: isoIn(0), keep: 2 })
  expect(await idsOf('completed')).toEqual([])
  expect(await idsOf('waiting')).toEqual(['waits'])
})
