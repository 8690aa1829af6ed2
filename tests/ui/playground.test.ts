import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from '../wire/client-program.ts'
import { KEY, runClient } from '../wire/server.ts'
import { expect, seriousViolations, test } from './heddle.ts'

test('a project without models says how to train one, and a run shows its curves', async ({
  page,
  server,
  project,
}) => {
  await page.goto(`/${project}/training`)
  await expect(page.getByRole('heading', { name: 'No model is trained here yet' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  const name = project.split('/')[1] ?? ''
  await runClient([pythonIn('clients'), clientProgram('wandb_basic.py'), name], {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: KEY,
  })
  await page.getByRole('tab', { name: /^Runs/ }).click()
  const runs = page.getByRole('grid', { name: 'Runs' }).getByRole('row')
  // A header and five runs: until the last one is listed, rows may still move.
  await expect(runs).toHaveCount(6)
  await runs.filter({ hasText: 'The first' }).click()
  await expect(page).toHaveURL(/run=first/)
  const loss = page.getByRole('figure', { name: 'loss' })
  await expect(loss).toContainText(/over step 0 to \d/)
  await page.getByRole('button', { name: 'Log scale' }).click()
  await expect(page).toHaveURL(/run=first.*scale=log|scale=log.*run=first/)
  expect(await seriousViolations(page)).toEqual([])
  await page.goto(`/${project}/runs/first`)
  await expect(loss).toContainText(/over step 0 to \d/)
})

test('a curve of a long run is shown to its end, under a name with a comma too, with one request for all', async ({
  page,
  server,
  project,
}) => {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const send = (path: string, body: object) =>
    fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const [entity, name] = project.split('/')
  const query = `mutation start($run: String!, $project: String, $entity: String) {
    upsertBucket(input: { name: $run, modelName: $project, entityName: $entity }) { bucket { id } }
  }`
  await send('/graphql', { query, variables: { run: 'long', project: name, entity } })
  const content = Array.from({ length: 12_000 }, (_, step) =>
    // Python writes what is no number as a bare word.
    JSON.stringify({ _step: step, loss: step, 'acc, top 5': 1 - step }).replace('}', ',"broken":NaN}'),
  )
  const files = { 'wandb-history.jsonl': { offset: 0, content } }
  expect((await send(`/files/${project}/long/file_stream`, { files })).status).toBe(200)
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('samples=')) asked.push(request.url())
  })
  await page.goto(`/${project}/runs/long`)
  const loss = page.getByRole('figure', { name: 'loss' })
  await expect(loss).toContainText('over step 0 to 11,999: loss from 0 to 11,999')
  await expect(loss).toContainText('The lowest and highest values of each stretch of steps')
  await expect(page.getByRole('figure', { name: 'acc, top 5' })).toContainText('over step 0 to 11,999')
  await expect(page.getByRole('figure', { name: 'broken' })).toContainText('No finite value')
  expect(new Set(asked).size).toBe(1)
})

test('models that cannot be loaded are said to be so, and loaded again', async ({ page, project }) => {
  await page.route('**/v1/models*', (route) => route.fulfill({ status: 400, json: { detail: 'Not now' } }))
  await page.goto(`/${project}/playground`)
  const failed = page.getByRole('alert').filter({ hasText: 'Models could not be loaded: Not now' })
  await expect(failed).toBeVisible()
  await page.unroute('**/v1/models*')
  await failed.getByRole('button', { name: 'Try again' }).click()
  await expect(failed).toHaveCount(0)
})

test('settings are sent as they are written, and what is wrong is said', async ({ page, project }) => {
  const asked: Record<string, unknown>[] = []
  await page.route('**/v1/chat/completions', async (route) => {
    asked.push(route.request().postDataJSON())
    const chunks = ['{"an', 'swer": "x"}'].map((content) => ({ choices: [{ delta: { content } }] }))
    const lines = [...chunks, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }]
    const body = [...lines.map((line) => JSON.stringify(line)), '[DONE]']
      .map((line) => `data: ${line}\n\n`)
      .join('')
    await route.fulfill({ contentType: 'text/event-stream', body })
  })
  await page.goto(`/${project}/playground`)
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('textbox', { name: /^top_k/ }).fill('3')
  const schema = page.getByRole('textbox', { name: 'JSON schema of the answer' })
  await schema.fill('{"type": "object", "properties": {"answer": {"type": "integer"}}}')
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Message to all columns' }).fill('Hello')
  await page.keyboard.press('Enter')
  const answer = page.getByRole('article', { name: 'assistant' })
  await expect(answer).toContainText('{"answer": "x"}')
  await expect(answer.getByRole('list', { name: 'Against the schema' })).toContainText('/answer')
  await expect(answer).toContainText('3 in, 2 out')
  expect(asked).toHaveLength(1)
  expect(Object.keys(asked[0] ?? {}).sort()).toEqual([
    'messages',
    'model',
    'response_format',
    'stream',
    'stream_options',
    'top_k',
  ])

  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('textbox', { name: /^top_k/ }).fill('many')
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Message to all columns' }).fill('Again')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText('top_k is not a whole number')
  expect(asked).toHaveLength(1)

  await page.getByRole('button', { name: 'New' }).click()
  await expect(answer).toHaveCount(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('{"answer": "x"}')).toBeVisible()
})

test('messages deleted while an answer is written leave it in its place, and the answer itself is stopped', async ({
  page,
  project,
}) => {
  let isHeld = false
  let answers = 0
  let held = Promise.withResolvers<void>()
  const stopped: string[] = []
  page.on('requestfailed', (request) => {
    // The page stops reading an answer at its end, which may also come before the end of the reply.
    if (request.postData()?.includes('Three')) stopped.push(request.url())
  })
  await page.route('**/v1/chat/completions', async (route) => {
    if (isHeld) await held.promise
    const line = JSON.stringify({ choices: [{ delta: { content: `Answer ${++answers}` } }] })
    // A request that was stopped takes none.
    const body = `data: ${line}\n\ndata: [DONE]\n\n`
    await route.fulfill({ contentType: 'text/event-stream', body }).catch(() => undefined)
  })
  const messages = page.getByRole('article')
  const remove = (index: number) =>
    messages.nth(index).getByRole('button', { name: 'Delete message' }).click()
  const send = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message to all columns' }).fill(text)
    // Until a model is known, nothing is asked.
    await expect(page.getByRole('button', { name: 'Ask', exact: true })).toBeEnabled()
    await page.keyboard.press('Enter')
  }
  await page.goto(`/${project}/playground`)
  await send('One')
  await expect(messages.nth(1)).toContainText('Answer 1')
  isHeld = true
  await send('Two')
  await expect(messages).toHaveCount(4)
  await remove(0)
  await expect(messages).toHaveCount(3)
  held.resolve()
  await expect(messages.nth(2)).toContainText('Answer 2')
  await expect(messages.nth(0)).toContainText('Answer 1')

  held = Promise.withResolvers()
  for (const index of [2, 1, 0]) await remove(index)
  await expect(messages).toHaveCount(0)
  await send('Three')
  await expect(messages).toHaveCount(2)
  // The last answer comes back, below the one that is being written.
  const deletions = page.getByRole('dialog').filter({ hasText: 'Message deleted' })
  await deletions.nth(2).getByRole('button', { name: 'Undo' }).click()
  await expect(messages).toHaveCount(3)
  await remove(1)
  await expect(messages).toHaveCount(2)
  await expect.poll(() => stopped).toHaveLength(1)
  held.resolve()
})

/** A call of a chat model, of which a page is to take the conversation over. */
async function tracedChat(
  url: string,
  project: string,
  { model, text }: { model: string; text: string },
): Promise<string> {
  const inputs = { model, messages: [{ role: 'user', content: text }] }
  const start = { project_id: project, op_name: 'chat', started_at: new Date().toISOString(), inputs }
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ start: { ...start, attributes: {} } })
  const response = await fetch(`${url}/call/start`, { method: 'POST', headers, body })
  return ((await response.json()) as { id: string }).id
}

test('what a link or a person removes from the playground comes back by undo, with the answers since then', async ({
  page,
  server,
  project,
}) => {
  const asked: (string | undefined)[] = []
  await page.route('**/v1/chat/completions', async (route) => {
    asked.push(route.request().headers()['openai-project'])
    const line = JSON.stringify({ choices: [{ delta: { content: `Answer ${asked.length}` } }] })
    await route.fulfill({ contentType: 'text/event-stream', body: `data: ${line}\n\ndata: [DONE]\n\n` })
  })
  const open = (search: string) => page.goto(`/${project}/playground?${search}`)
  const column = (model: string) => page.getByRole('region', { name: `Column of ${model}` })
  const undo = page.getByRole('button', { name: 'Undo' })
  const send = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message to all columns' }).fill(text)
    await page.keyboard.press('Enter')
  }
  await open('models=["one","two"]')
  await send('Hello')
  await expect(column('two')).toContainText('Answer')
  await expect(column('one')).toContainText('Answer')
  expect(asked).toEqual([project, project])

  await open('models=["three"]')
  await expect(column('three')).toContainText('Answer')
  await expect(column('two')).toHaveCount(0)
  await undo.click()
  await expect(column('two')).toContainText('Answer')

  const call = await tracedChat(server.url, project, { model: 'unknown', text: 'Asked in the trace' })
  await open(`call=${call}`)
  await expect(page.getByText('Asked in the trace')).toBeVisible()
  await expect(page.getByText('model unknown: not served here')).toBeVisible()
  await undo.click()
  await expect(column('two')).toContainText('Hello')

  await column('two').getByRole('button', { name: 'Remove column' }).click()
  await column('three')
    .getByRole('article', { name: 'user' })
    .getByRole('button', { name: 'Delete message' })
    .click()
  await send('Again')
  await expect(column('three')).toContainText('Answer 3')
  for (const title of ['Message deleted', 'Column removed'])
    await page.getByRole('dialog').filter({ hasText: title }).getByRole('button', { name: 'Undo' }).click()
  await expect(column('three')).toContainText('Hello')
  await expect(column('three')).toContainText('Answer 3')
  await expect(column('two')).toContainText('Answer')
})

test('a replay asks the model that the call asked, also in a project of another entity', async ({
  page,
  server,
  project,
}) => {
  const [, name = ''] = project.split('/')
  // Without an engine no model can be made.
  await page.route(`**/v1/models/ada%2F${name}%2Fsums%3Astep3`, (route) => route.fulfill({ json: {} }))
  const model = `wandb-artifact:///ada/${name}/sums:step3`
  const call = await tracedChat(server.url, `ada/${name}`, { model, text: 'Two and two?' })
  await page.goto(`/ada/${name}/playground?call=${call}`)
  await expect(page.getByText('Two and two?')).toBeVisible()
  await expect(page.getByRole('button', { name: `Model: ada/${name}/sums:step3` })).toBeVisible()
  await expect(page.getByText('not served here')).toHaveCount(0)
})

test('attempts of a job that has ended appear as they become calls, and a group is judged once it is whole', async ({
  page,
  server,
  project,
}) => {
  const [entity, name] = project.split('/')
  const created_at = new Date().toISOString()
  const lora = { rank: 8, alpha: 16 }
  const names = { name: 'sums', entity, project: name, base_model: 'heddle/loom-tiny' }
  const model = { id: 'm1', ...names, lora, created_at }
  const job = {
    id: 'j1',
    kind: 'rl',
    model_id: 'm1',
    state: 'succeeded',
    created_at,
    started_at: created_at,
    ended_at: created_at,
    config: {},
    counts: { groups: 2, trajectories: 4, exceptions: 0, gradient_steps: 1 },
  }
  const step = { id: 's1', step: 1, job_id: 'j1', metrics: {}, tags: [], created_at, size_bytes: 1 }
  const list = (data: object[]) => ({ data, has_more: false, first_id: '', last_id: '' })
  // Without an engine no model can be trained.
  await page.route('**/v1/preview/models?*', (route) => route.fulfill({ json: list([model]) }))
  await page.route('**/v1/preview/models/m1/checkpoints?*', (route) => route.fulfill({ json: list([step]) }))
  await page.route('**/v1/preview/training-jobs?*', (route) => route.fulfill({ json: list([job]) }))
  await page.route('**/v1/preview/training-jobs/j1', (route) => route.fulfill({ json: job }))
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const attempt = (group: number, trajectory: number, reward: number) => {
    const place = { job_id: 'j1', split: 'train', group, trajectory, history: 0, turn: 0, reward }
    const inputs = { messages: [{ role: 'user', content: `Sum number ${group}` }] }
    const start = { project_id: project, op_name: 'turn', started_at: new Date().toISOString(), inputs }
    const body = JSON.stringify({ start: { ...start, attributes: { trajectory: place } } })
    return fetch(`${server.url}/call/start`, { method: 'POST', headers, body })
  }
  await attempt(0, 0, 1)
  await page.goto(`/${project}/training/sums?view=rollouts`)
  const groups = page.getByRole('grid', { name: /Groups/ }).getByRole('row')
  await expect(page.getByText('1 of 4 attempts are shown')).toBeVisible()
  await expect(groups.filter({ hasText: 'Sum number 0' })).not.toContainText('not trained on')
  await attempt(0, 1, 1)
  await attempt(1, 0, 1)
  await attempt(1, 1, 0)
  await expect(groups.filter({ hasText: 'Sum number 1' })).toBeVisible()
  await expect(groups.filter({ hasText: 'Sum number 0' })).toContainText('not trained on')
  await expect(page.getByText('attempts are shown')).toHaveCount(0)
})

test('the playground, its settings and an error have no serious violation', async ({ page, project }) => {
  await page.goto(`/${project}/playground`)
  await expect(page.getByRole('button', { name: 'Model: heddle/loom-tiny' })).toBeVisible()
  await page.getByRole('button', { name: 'Settings' }).click()
  await expect(page.getByRole('textbox', { name: 'Tools' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Message to all columns' }).fill('Hello')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText(/engine/i)
  expect(await seriousViolations(page)).toEqual([])
  await page.goto('/system')
  await expect(page.getByRole('region', { name: 'Versions' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
})
