import { describe, expect, it } from 'vitest'
import { publishing } from '../../evaluation/test-objects.ts'
import { newId } from '../../ids.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { group } from '../../training/test-group.ts'
import { createTestAccounts, type KeyClient } from '../test-accounts.ts'

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const { as, operator, newUser } = createTestAccounts(server)

/** A job that waits for as long as the test takes. */
async function addWaiting(kind: string, of: { entity?: string; key_id?: string }): Promise<void> {
  const [waiting, due] = [
    { state: 'waiting', payload: '{}', attempts: 0, attempts_max: 1 } as const,
    '2200-01-01',
  ]
  const row = { ...waiting, ...of, kind, id: newId(), run_at: due, created_at: due }
  await server.stores.control.insertInto('jobs').values(row).execute()
}

/** A user, whose entity is its own. */
async function newAdmin(): Promise<{ entity: string; admin: KeyClient }> {
  const entity = `user-${newId().slice(-12)}`
  return { entity, admin: await newUser(entity) }
}

describe('POST /v1/preview/training-jobs', () => {
  it('403 for a key that may not train, before its body is read', async () => {
    const ada = await newUser('ada')
    for (const scope of ['ingest', 'read', 'inference']) {
      const made = await replyOf(await ada.post('/v1/accounts/keys', { name: scope, scope }))
      const refused = await as(String(made['key'])).post('/v1/preview/training-jobs', {
        trajectory_groups: 'x',
      })
      expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('may not train')])
    }
  })

  it('403 for the model of a team whose viewer it is, before a body that names it first has ended', async () => {
    const { entity, admin } = await newAdmin()
    const viewer = await newAdmin()
    await replyOf(
      await admin.put(`/v1/accounts/teams/${entity}/members/${viewer.entity}`, { role: 'viewer' }),
    )
    const named = { entity, project: 'p', name: 'm', base_model: TEST_BASE_MODEL }
    const { id } = await replyOf(await admin.post('/v1/preview/models', named))
    const begun = `{"model_id": "${id}", "trajectory_groups": [${JSON.stringify(group())},`
    // A body that does not end would be 422 otherwise.
    const refused = await viewer.admin.post('/v1/preview/training-jobs', begun)
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('may not change')])
  })

  it('429 for more than the team may have waiting or running', async () => {
    const { entity, admin } = await newAdmin()
    const limit = (training_jobs: number) =>
      operator().then((one) => one.put(`/v1/accounts/teams/${entity}/limits`, { training_jobs }))
    await limit(2)
    const named = { entity, project: 'p', name: 'm', base_model: TEST_BASE_MODEL }
    const model = await replyOf(await admin.post('/v1/preview/models', named))
    const job = () =>
      admin.post('/v1/preview/training-jobs', { model_id: model['id'], trajectory_groups: [group()] })
    await addWaiting('training', { entity })
    expect((await job()).status).toBe(200)
    await addWaiting('training', { entity })
    const refused = await job()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    const { detail } = (await refused.json()) as { detail: string }
    expect(detail).toMatch(
      new RegExp(
        `^${entity} has [23] training jobs that run or wait, and its limit is 2: try again when one has`,
      ),
    )
    await limit(9)
    expect((await job()).status).toBe(200)
  })
})

describe('POST /evaluations/evaluate_model', () => {
  it('429 for more than the key may have waiting or running, and for no other key', async () => {
    const { entity, admin } = await newAdmin()
    const made = await replyOf(await admin.post('/v1/accounts/keys', { name: 'one' }))
    const key_id = String(made['id'])
    const keyed = as(String(made['key']))
    await replyOf(await admin.put(`/v1/accounts/keys/${key_id}/limits`, { evaluations: 1 }))
    const project_id = `${entity}/p`
    const { model, dataset, evaluation } = publishing({
      ...server,
      request: (path, init = {}) =>
        server.request(path, { ...init, headers: { authorization: `Bearer ${admin.key}` } }),
      post: admin.post,
    })
    const request = {
      project_id,
      model_ref: await model(project_id),
      evaluation_ref: await evaluation(project_id, await dataset(project_id, [{ user_input: 'x' }]), []),
    }
    await addWaiting('evaluate_model', { key_id })
    const refused = await keyed.post('/evaluations/evaluate_model', request)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({
      reason: expect.stringMatching('This key has 1 evaluations that run or wait, and its limit is 1'),
    })
    expect((await admin.post('/evaluations/evaluate_model', request)).status).toBe(200)
  })
})
