import { describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../../accounts/test-accounts.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { finishedCall } from '../../trace/test-calls.ts'
import type { Erasure } from './wire.ts'

const server = useTestServer({ auth: 'keys' })
const { as, newUser } = createTestAccounts(server)

/** Erases two projects of a new user. */
async function newReceipts(user: string): Promise<{ client: KeyClient; ids: string[] }> {
  const client = await newUser(user)
  const ids: string[] = []
  for (const path of [`/v2/${user}/first`, `/v2/${user}/second`]) {
    await replyOf(await client.post(`${path}/calls/complete`, { batch: [finishedCall({})] }))
    ids.push((await replyOf<Erasure>(await client.delete(path))).id)
  }
  return { client, ids }
}

describe('GET /v1/accounts/erasures and /v1/accounts/erasures/{id}', () => {
  it.each<[string, object, number[]]>([
    ['without limits', {}, [1, 0]],
    ['that reads', { scope: 'read' }, [1, 0]],
    ['for one project', { project_id: 'PROJECT' }, [0]],
    ['that only ingests', { scope: 'ingest' }, []],
    ['that only ingests into one project', { scope: 'ingest', project_id: 'PROJECT' }, []],
    ['that only infers', { scope: 'inference' }, []],
  ])('show a key %s what it may read', async (what, limits, seen) => {
    const user = `user-${what.replaceAll(' ', '-')}`.slice(0, 30)
    const { client, ids } = await newReceipts(user)
    const project_id = `${user}/first`
    const body = { name: 'key', ...limits, ...('project_id' in limits && { project_id }) }
    const made = await replyOf(await client.post('/v1/accounts/keys', body))
    const key = as(String(made['key']))

    const listed = await replyOf<{ data: Erasure[] }>(await key.get('/v1/accounts/erasures'))
    expect(listed.data.map(({ id }) => ids.indexOf(id))).toEqual(seen)
    const found = await Promise.all(ids.map((id) => key.get(`/v1/accounts/erasures/${id}`)))
    expect(found.map(({ status }) => status)).toEqual([0, 1].map((at) => (seen.includes(at) ? 200 : 404)))
  })

  it('show nobody what others asked for', async () => {
    const { ids } = await newReceipts('asking')
    const other = await newUser('other')
    expect(await replyOf(await other.get('/v1/accounts/erasures'))).toMatchObject({ data: [] })
    expect((await other.get(`/v1/accounts/erasures/${ids[0]}`)).status).toBe(404)
  })
})
