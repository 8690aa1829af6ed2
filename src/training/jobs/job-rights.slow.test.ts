import { beforeAll, describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../../accounts/test-accounts.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { eventually } from '../../test-eventually.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { group } from '../test-group.ts'

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const accounts = createTestAccounts(server)
let anna: KeyClient

beforeAll(async () => {
  anna = await accounts.newUser('anna')
  await (await accounts.operator()).post('/v1/accounts/teams', { name: 'red', admin: 'anna' })
})

async function newModel(name: string): Promise<string> {
  const named = { entity: 'red', project: 'p', name, base_model: TEST_BASE_MODEL }
  return String((await replyOf(await anna.post('/v1/preview/models', named)))['id'])
}

async function startJob(client: KeyClient, model_id: string, fake?: string): Promise<string> {
  const job = { model_id, trajectory_groups: [group(fake)] }
  return String((await replyOf(await client.post('/v1/preview/training-jobs', job)))['id'])
}

const jobOf = async (id: string): Promise<Fields> =>
  replyOf(await anna.get(`/v1/preview/training-jobs/${id}`))

const reaches = (id: string, state: Fields): Promise<void> =>
  eventually(async () => expect(await jobOf(id)).toMatchObject(state))

/** A new member of the team, with a job that waits behind one that takes as long as the test wants. */
async function waitingJobOf(name: string) {
  const user = await accounts.newUser(name)
  await replyOf(await anna.put(`/v1/accounts/teams/red/members/${name}`, { role: 'member' }))
  const { id: keyId, key } = await replyOf(await user.post('/v1/accounts/keys', { name: 'one' }))
  const model = await newModel(name)
  const first = await startJob(anna, model, 'wait')
  await reaches(first, { state: 'running' })
  const job = await startJob(accounts.as(String(key)), model)
  return { user, keyId, model, job, begin: () => anna.post(`/v1/preview/training-jobs/${first}/cancel`, {}) }
}

async function stepsOf(model: string): Promise<unknown[]> {
  const path = `/v1/preview/models/${model}/checkpoints`
  return (await replyOf<{ data: Fields[] }>(await anna.get(path))).data.map(({ step }) => step)
}

describe('a training job that waits', () => {
  it.each([
    { name: 'ben', what: 'its user was removed from the team' },
    { name: 'carl', what: 'its user was disabled' },
    { name: 'dora', what: 'its key was revoked' },
  ])('fails with the reason, and makes no checkpoint, where $what', async ({ name, what }) => {
    const { user, keyId, model, job, begin } = await waitingJobOf(name)
    const operator = await accounts.operator()
    const ended = what.includes('removed')
      ? await anna.delete(`/v1/accounts/teams/red/members/${name}`)
      : what.includes('disabled')
        ? await operator.put(`/v1/accounts/users/${name}`, { disabled: true })
        : await user.delete(`/v1/accounts/keys/${keyId}`)
    expect(ended.status).toBe(200)
    await begin()
    const reason = `${name} may no longer change red/p, or the key may not`
    await reaches(job, { state: 'failed', error_message: expect.stringContaining(reason), attempts: 1 })
    expect(await stepsOf(model)).toEqual([0])
  })

  it('trains where its key has the right, or where no key was recorded', async () => {
    const { user, keyId, model, job, begin } = await waitingJobOf('emma')
    const { control } = server.stores
    await begin()
    await reaches(job, { state: 'succeeded' })
    const first = await startJob(anna, model, 'wait')
    const earlier = await startJob(user, model)
    await control.updateTable('jobs').set({ key_id: '' }).where('id', '=', earlier).execute()
    await user.delete(`/v1/accounts/keys/${keyId}`)
    await anna.delete('/v1/accounts/teams/red/members/emma')
    await anna.post(`/v1/preview/training-jobs/${first}/cancel`, {})
    await reaches(earlier, { state: 'succeeded' })
    expect(await stepsOf(model)).toEqual([0, 1, 2])
  })
})
