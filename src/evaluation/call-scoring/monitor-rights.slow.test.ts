import { beforeAll, describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../../accounts/test-accounts.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { eventually } from '../../test-eventually.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall } from '../../trace/test-calls.ts'
import { publishing } from '../test-objects.ts'

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const accounts = createTestAccounts(server)
let anna: KeyClient
let bob: KeyClient

beforeAll(async () => {
  anna = await accounts.newUser('anna')
  bob = await accounts.newUser('bob')
  const operator = await accounts.operator()
  for (const name of ['red', 'blue']) await operator.post('/v1/accounts/teams', { name, admin: 'anna' })
  await anna.put('/v1/accounts/teams/red/members/bob', { role: 'member' })
})

/** Publishes in the name of a key. */
function objectsOf(client: KeyClient) {
  const request = (path: string, init: RequestInit) =>
    client.send(init.method ?? 'GET', path, { body: init.body })
  return publishing({ ...server, request, post: client.post })
}

function monitorOf(scorer: string): Fields {
  const bases = ['Object', 'BaseModel']
  return { _type: 'Monitor', active: true, scorers: [scorer], _class_name: 'Monitor', _bases: bases }
}

/** Writes a call that ends, as Anna, and waits for what the only monitor of the project counts. */
async function afterCall(project_id: string, state: Fields): Promise<void> {
  const batch = [finishedCall({ op_name: `weave:///${project_id}/op/answer:abc`, output: '{}' })]
  await replyOf(await anna.post(`/v2/${project_id}/calls/complete`, { batch }))
  await eventually(async () => {
    const { monitors } = await replyOf(await anna.get(`/v2/${project_id}/monitors`))
    expect(monitors).toMatchObject([state])
  })
}

describe('monitors of a server with keys', () => {
  it('score nothing once their publisher may not change the project, until another publishes them', async () => {
    const project = 'red/left'
    const objects = objectsOf(bob)
    const watch = monitorOf(await objects.scorer(project, 'ValidJSONScorer'))
    await objects.publish(project, 'watch', watch)
    await afterCall(project, { scored: 1, failed: 0, problems: [] })
    await anna.delete('/v1/accounts/teams/red/members/bob')
    const last_error = 'bob may no longer change red/left, or the key may not'
    await afterCall(project, { scored: 1, failed: 1, last_error, problems: [last_error] })
    await objectsOf(anna).publish(project, 'watch', watch)
    await afterCall(project, { scored: 2, failed: 1, problems: [] })
  })

  it('ask no model of another project, which anyone who may write there could have them do', async () => {
    const project = 'red/judged'
    for (const [entity, name] of [
      ['blue', 'secret'],
      ['red', 'judged'],
    ])
      await replyOf(
        await anna.post('/v1/preview/models', {
          entity,
          project: name,
          name: 'm',
          base_model: TEST_BASE_MODEL,
        }),
      )
    const { key } = await replyOf(
      await anna.post('/v1/accounts/keys', { name: 'narrow', project_id: project }),
    )
    const objects = objectsOf(accounts.as(String(key)))
    const watchWith = async (llm_model_id: string) => {
      const model = await objects.model(project, {}, { llm_model_id })
      const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', { model, scoring_prompt: '{output}' })
      await objects.publish(project, 'watch', monitorOf(judge))
    }
    await watchWith('wandb-artifact:///red/judged/m')
    await afterCall(project, { scored: 1, failed: 0 })
    await watchWith('wandb-artifact:///blue/secret/m')
    await afterCall(project, { scored: 1, failed: 1, last_error: expect.stringContaining('blue/secret/m') })
  })

  it('are not changed by a key that may only add, nor is what they name without a digest', async () => {
    const project = 'red/added'
    const madeKey = await anna.post('/v1/accounts/keys', {
      name: 'add',
      scope: 'ingest',
      project_id: project,
    })
    const adding = accounts.as(String((await replyOf(madeKey))['key']))
    const statusOf = async (object_id: string, val: Fields) =>
      (await adding.post('/obj/create', { obj: { project_id: project, object_id, val } })).status
    const instance = (_class_name: string, base: string, fields: Fields = {}) => ({
      _type: _class_name,
      _class_name,
      _bases: [base, 'Object', 'BaseModel'],
      ...fields,
    })
    const remote = instance('RemoteScorer', 'Scorer', { endpoint_url: 'https://elsewhere.example/' })
    expect(await statusOf('rule', instance('ValidJSONScorer', 'Scorer'))).toBe(200)

    const objects = objectsOf(anna)
    const latest = (name: string) => `weave:///${project}/object/${name}:latest`
    const messages = [{ role: 'user', content: '{output}' }]
    await objects.publish(project, 'words', { messages })
    await objects.publish(project, 'asked', instance('LLMStructuredCompletionModel', 'Model'))
    const fixed = await objects.publish(project, 'fixed', instance('ValidXMLScorer', 'Scorer'))
    const judge = { model: latest('asked'), scoring_prompt: latest('words') }
    const judging = await objects.publish(project, 'judge', instance('LLMAsAJudgeScorer', 'Scorer', judge))
    const watch = {
      ...monitorOf(fixed),
      scorers: [fixed, judging, latest('rule')],
      op_names: [`weave:///${project}/op/answer:*`],
    }
    await objects.publish(project, 'watch', watch)

    for (const name of ['watch', 'rule', 'asked', 'words']) {
      expect(await statusOf(name, remote)).toBe(403)
      expect(await statusOf(name, { a: 1 })).toBe(403)
    }
    for (const name of ['fixed', 'judge', 'answer', 'another']) expect(await statusOf(name, remote)).toBe(200)
    const { monitors } = await replyOf(await anna.get(`/v2/${project}/monitors`))
    expect(monitors).toMatchObject([{ object_id: 'watch', is_active: true }])
    await objects.publish(project, 'rule', remote)
  })
})
