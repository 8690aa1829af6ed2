import type { Page } from '@playwright/test'
import { post } from './bulk.ts'
import { expect, test } from './heddle.ts'
import { loadTalk } from './talks.ts'

const log = (page: Page) => page.getByRole('log', { name: 'Turns' })
const turnsOf = (page: Page) => log(page).getByRole('article', { name: /^Turn/ })

/** Writes turns of a thread, a second apart. */
async function writeTurns(url: string, project: string, { from, count }: { from: number; count: number }) {
  const batch = Array.from({ length: count }, (_, index) => {
    const id = crypto.randomUUID()
    const at = new Date(Date.now() - 3_600_000 + (from + index) * 1000).toISOString()
    const times = { started_at: at, ended_at: at }
    const inputs = { message: `question ${from + index}` }
    const ids = { id, trace_id: id, thread_id: 'long', turn_id: id }
    return {
      ...ids,
      op_name: 'answer',
      ...times,
      inputs,
      output: 'Yes. '.repeat(200),
      attributes: {},
      summary: {},
    }
  })
  await post(url, `/v2/${project}/calls/complete`, { batch })
}

test('a thread is read as one conversation, and leads to its traces', async ({ page, server, project }) => {
  const talk = await loadTalk(server.url, project)
  await page.goto(`/${project}/threads`)
  await page
    .getByRole('grid', { name: 'Threads' })
    .getByRole('row', { name: /tiles-for-the-bathroom/ })
    .click()
  const turns = log(page)
  await expect(turnsOf(page)).toHaveCount(3)
  await expect(turns).toContainText('Which of them delivers within two days?')
  await expect(turns).toContainText('Two red tiles will arrive on Thursday.')
  await page.reload()
  await turns.getByRole('link', { name: 'assistant_turn' }).last().click()
  await expect(page).toHaveURL(`/${project}/calls/${talk.turn}`)
  await page.getByRole('link', { name: 'Open the thread' }).click()
  await expect(turns).toContainText('arrive on Thursday')
})

test('earlier turns that could not be loaded say why, and can be asked for again', async ({
  page,
  server,
  project,
}) => {
  await Promise.all(Array.from({ length: 7 }, () => loadTalk(server.url, project)))
  await page.goto(`/${project}/threads`)
  await page
    .getByRole('grid', { name: 'Threads' })
    .getByRole('row', { name: /tiles-for-the-bathroom/ })
    .click()
  const turns = turnsOf(page)
  await expect(turns).toHaveCount(20)
  const lists = '**/calls/stream_query'
  await page.route(lists, (route) =>
    JSON.stringify(route.request().postDataJSON().query).includes('$lt')
      ? route.fulfill({ status: 400, json: { reason: 'Too much is read' } })
      : route.continue(),
  )
  await page.getByRole('button', { name: 'Show earlier turns' }).click()
  const thread = page.getByRole('region', { name: /^Thread/ })
  await expect(thread.getByRole('status')).toContainText('Too much is read')
  await page.unroute(lists)
  await thread.getByRole('button', { name: 'Try again' }).click()
  await expect(turns).toHaveCount(21)
})

test('a turn with a parent is shown, as the list of threads counts it', async ({ page, server, project }) => {
  const [root, turn] = [crypto.randomUUID(), crypto.randomUUID()]
  const at = new Date().toISOString()
  const common = { trace_id: root, started_at: at, ended_at: at, attributes: {}, summary: {} }
  const batch = [
    { ...common, id: root, op_name: 'POST /chat', inputs: {}, output: null },
    {
      ...common,
      id: turn,
      parent_id: root,
      thread_id: 'inside',
      turn_id: turn,
      op_name: 'answer',
      inputs: { message: 'Hello?' },
      output: 'Good morning.',
    },
  ]
  await post(server.url, `/v2/${project}/calls/complete`, { batch })
  await page.goto(`/${project}/threads?thread=inside`)
  await expect(page.getByRole('region', { name: /^Thread/ })).toContainText('1 turn')
  await expect(turnsOf(page)).toHaveCount(1)
  await expect(log(page)).toContainText('Good morning.')
})

test('a new turn is added to those that were loaded, and what one reads stays where it is', async ({
  page,
  server,
  project,
}) => {
  await writeTurns(server.url, project, { from: 0, count: 25 })
  const reads: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/calls/stream_query')) reads.push(request.postData() ?? '')
  })
  await page.goto(`/${project}/threads?thread=long`)
  await expect(turnsOf(page)).toHaveCount(20)
  await page.getByRole('button', { name: 'Show earlier turns' }).click()
  await expect(turnsOf(page)).toHaveCount(25)
  expect(reads).toHaveLength(2)
  await log(page).evaluate((element) => {
    element.scrollTop = 300
  })
  await writeTurns(server.url, project, { from: 25, count: 2 })
  await expect(turnsOf(page)).toHaveCount(27)
  await expect(turnsOf(page).last()).toContainText('question 26')
  expect(await log(page).evaluate(({ scrollTop }) => scrollTop)).toBe(300)
  await expect(page.getByRole('region', { name: /^Thread/ })).toContainText('27 turns')
  expect(reads).toHaveLength(3)
})
