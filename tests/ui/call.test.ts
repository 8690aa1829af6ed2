import type { Page } from '@playwright/test'
import { v7 as newId } from 'uuid'
import { clientProgram } from '../wire/client-program.ts'
import { KEY, runClient } from '../wire/server.ts'
import { post } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { loadTrace } from './large-trace.ts'
import { loadTalk } from './talks.ts'

const SMALL = { deep: 4, wide: 25, steps: 12, orphans: 2 }

const tree = (page: Page) => page.getByRole('treegrid', { name: 'Calls of the trace' })
const selected = (page: Page) => tree(page).getByRole('row', { selected: true })
const detail = (page: Page) => page.getByRole('region', { name: 'Call', exact: true })

test('a printed link leads to the call in its trace; keys go through it', async ({
  page,
  server,
  project,
}) => {
  const trace = await loadTrace(server.url, project, SMALL)
  await page.goto(`/${project}/r/call/${trace.root}`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('research_agent')
  await expect(selected(page)).toContainText('research_agent')
  await expect(page.getByText('2 calls have no parent in this trace')).toBeVisible()
  await expect(detail(page).getByRole('tree', { name: 'Output' })).toContainText('of root')

  await page.keyboard.press('e')
  await expect(selected(page)).toContainText('search_web')
  await expect(page).toHaveURL(`/${project}/calls/${trace.failed}`)
  await expect(detail(page).getByRole('region', { name: 'Exception' })).toContainText(
    'the index did not answer',
  )
  await page.keyboard.press('Shift+P')
  await expect(page).not.toHaveURL(`/${project}/calls/${trace.failed}`)
  await expect(selected(page)).toContainText('search_web')

  await page.keyboard.press('.')
  await expect(tree(page).getByRole('row', { name: /read_document/ })).toHaveCount(0)
  await expect(tree(page).getByRole('row', { name: /map_documents/ })).toHaveAttribute(
    'aria-expanded',
    'false',
  )
  await tree(page)
    .getByRole('row', { name: /map_documents/ })
    .click()
  await tree(page).focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await expect(selected(page)).toContainText('read_document')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect(selected(page)).toHaveAttribute('aria-expanded', 'false')

  await page.goBack()
  await expect(selected(page)).toContainText('search_web')
})

test('the selected call is in the link at once, and while a key is held, when it is released', async ({
  page,
  server,
  project,
}) => {
  const trace = await loadTrace(server.url, project, SMALL)
  await page.goto(`/${project}/calls/${trace.root}`)
  await expect(selected(page)).toContainText('research_agent')
  const rows = tree(page).getByRole('row')
  const inLink = () => page.evaluate(() => location.pathname.split('/').at(-1))
  await page.keyboard.press('j')
  expect(await inLink()).not.toBe(trace.root)
  await page.keyboard.down('j')
  const held = await inLink()
  await page.keyboard.down('j')
  await page.keyboard.down('j')
  await expect(rows.nth(5)).toHaveAttribute('aria-selected', 'true')
  expect(await inLink()).toBe(held)
  await page.keyboard.up('j')
  expect(await inLink()).not.toBe(held)
  const last = await selected(page).textContent()
  await page.reload()
  await expect(selected(page)).toHaveText(last ?? '')
})

test('calls that repeat are one row until it is opened', async ({ page, server, project }) => {
  const trace = await loadTrace(server.url, project, SMALL)
  await page.goto(`/${project}/calls/${trace.root}`)
  const reads = tree(page).getByRole('row', { name: /read_document/ })
  await expect(reads).toHaveCount(1)
  await expect(reads).toContainText('×25')
  await expect(reads).toHaveAttribute('aria-expanded', 'false')
  await reads.click()
  await expect(reads.nth(10)).toBeVisible()
  await expect(selected(page)).toContainText('×25')
  await page.keyboard.press('j')
  await page.keyboard.press('r')
  await expect(reads).toHaveCount(1)
  await expect(selected(page)).toContainText('×25')
  await page.keyboard.press('s')
  await expect(reads.nth(10)).toBeVisible()
  await tree(page).getByRole('button', { name: /×25/ }).click()
  await expect(reads).toHaveCount(1)
  await page.getByRole('textbox', { name: 'Find calls' }).fill('read_document')
  await expect(reads.nth(10)).toBeVisible()
})

test('the cost of a call is what the server counts: cached tokens are in it', async ({
  page,
  server,
  project,
}) => {
  const model = 'loom-large'
  const price = { prompt_token_cost: 3e-6, completion_token_cost: 1.5e-5 }
  const cached = { cache_read_input_token_cost: 3e-7, cache_creation_input_token_cost: 3.75e-6 }
  await post(server.url, '/cost/create', {
    project_id: project,
    costs: { [model]: { ...price, ...cached, effective_date: '2026-01-01T00:00:00Z' } },
  })
  const id = crypto.randomUUID()
  const used = { input_tokens: 120_050, output_tokens: 500, requests: 1 }
  const fromCache = { cache_read_input_tokens: 100_000, cache_creation_input_tokens: 20_000 }
  const at = new Date().toISOString()
  const times = { started_at: at, ended_at: at }
  const payloads = { inputs: {}, output: 'yes', attributes: {} }
  const summary = { usage: { [model]: { ...used, ...fromCache } } }
  const call = { id, trace_id: id, op_name: 'ask', ...times, ...payloads, summary }
  await post(server.url, `/v2/${project}/calls/complete`, { batch: [call] })

  // 50 tokens in, 500 out, 100,000 read from the cache and 20,000 added to it.
  await page.goto(`/${project}/traces`)
  await expect(page.getByRole('row', { name: /ask/ })).toContainText('$0.11')
  await page.goto(`/${project}/calls/${id}`)
  await detail(page).getByRole('tab', { name: 'Cost' }).click()
  const costs = detail(page).getByRole('row', { name: /loom-large/ })
  for (const cost of ['$0.00015', '$0.11', '$0.0075']) await expect(costs).toContainText(cost)
})

test('what a trace waited for is marked, and that is in the link', async ({ page, server, project }) => {
  const trace = await loadTrace(server.url, project, SMALL)
  await page.goto(`/${project}/calls/${trace.root}`)
  await expect(selected(page)).toBeVisible()
  const waited = tree(page).getByRole('row', { name: /on the critical path/ })
  await expect(waited).toHaveCount(0)
  await page.keyboard.press('w')
  await expect(waited.first()).toContainText('research_agent')
  await expect(tree(page).getByRole('row', { name: /map_documents.*on the critical path/ })).toBeVisible()
  // A later call ended while it still ran.
  await expect(tree(page).getByRole('row', { name: /^function refine on/ })).toHaveCount(0)
  await page.reload()
  await expect(waited.first()).toBeVisible()
  await page.getByRole('button', { name: /Mark the critical path/ }).click()
  await expect(waited).toHaveCount(0)
})

test('the texts of the time line never cover one another', async ({ page, server, project }) => {
  const trace = await loadTrace(server.url, project, SMALL)
  await page.goto(`/${project}/calls/${trace.root}`)
  const line = page.getByRole('columnheader', { name: 'Timeline' })
  for (const width of [1000, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    await expect(line.locator('span').first()).toBeVisible()
    const overlaps = await line.evaluate((element) => {
      const texts = [...element.children].map((child) => {
        const range = document.createRange()
        range.selectNodeContents(child)
        return range.getBoundingClientRect()
      })
      const end = element.getBoundingClientRect().right
      return texts.filter(({ right }, at) => right > Math.min(end, texts[at + 1]?.left ?? end)).length
    })
    expect(overlaps).toBe(0)
  }
})

test('calls are found by name, kind and time, and the search is in the link', async ({
  page,
  server,
  project,
}) => {
  const trace = await loadTrace(server.url, project, SMALL)
  await page.goto(`/${project}/calls/${trace.root}`)
  await expect(selected(page)).toBeVisible()
  await page.keyboard.press('/')
  await page.keyboard.type('rerank')
  await expect(page.getByRole('status').filter({ hasText: '12' })).toBeVisible()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('status').filter({ hasText: '2 of 12' })).toBeVisible()
  await expect(tree(page).getByRole('row', { name: /read_document/ })).toHaveCount(0)
  const found = await selected(page).textContent()
  await page.reload()
  await expect(page.getByRole('textbox', { name: 'Find calls' })).toHaveValue('rerank')
  await expect(selected(page)).toHaveText(found ?? '')
  await page.getByRole('textbox', { name: 'Find calls' }).fill('kind:llm >1s')
  await expect(page.getByRole('status').filter({ hasText: 'none' })).toBeVisible()
})

test('what was said is read as a chat, with its tools, pictures and feedback', async ({
  page,
  server,
  project,
}) => {
  const talk = await loadTalk(server.url, project)
  await page.goto(`/${project}/calls/${talk.chat}`)
  const chat = detail(page).getByRole('list', { name: 'Conversation' })
  await expect(chat.getByRole('article', { name: 'user' })).toHaveCount(3)
  await expect(chat.getByRole('region', { name: 'Call of search_catalogue' }).first()).toContainText(
    'brightside',
  )
  await expect(chat.getByRole('img', { name: 'image/png' })).toBeVisible()
  await expect(chat.getByRole('table')).toContainText('Aldous & Co')
  await chat.getByText('reasoning').first().click()
  await expect(chat.getByText('I need the catalogue for that.').first()).toBeVisible()

  await page.keyboard.press('+')
  await detail(page).getByRole('tab', { name: 'Feedback' }).click()
  await detail(page).getByRole('button', { name: 'React with 🎉' }).click()
  await expect(detail(page).getByRole('listitem').filter({ hasText: '🎉' })).toBeVisible()
  await page.reload()
  await expect(detail(page).getByRole('tab', { name: 'Feedback' })).toHaveAttribute('aria-selected', 'true')
  await detail(page).getByRole('listitem').filter({ hasText: '🎉' }).getByRole('button').click()
  await expect(detail(page).getByRole('listitem').filter({ hasText: '🎉' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(detail(page).getByRole('listitem').filter({ hasText: '🎉' })).toBeVisible()

  await detail(page).getByRole('tab', { name: 'Cost' }).click()
  await expect(detail(page).getByRole('row', { name: /gpt-4o-mini/ })).toContainText('1.02k')
  await expect(detail(page).getByRole('link', { name: 'Open in the playground' })).toHaveAttribute(
    'href',
    `/${project}/playground?call=${talk.chat}`,
  )
})

test('a trace of OpenTelemetry looks like any other', async ({ page, server, project }) => {
  const command = [process.execPath, clientProgram('otlp_spans.mjs'), 'json']
  const { root_id } = await runClient(command, {
    OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${KEY},project_id=${encodeURIComponent(project)}`,
  })
  await page.goto(`/${project}/calls/${String(root_id)}`)
  await expect(tree(page).getByRole('row', { name: /agent_run/ })).toBeVisible()
  await tree(page)
    .getByRole('row', { name: /^model chat|chat/ })
    .first()
    .click()
  await expect(detail(page).getByRole('article', { name: 'user' })).toContainText('naïve?')
  await page.keyboard.press('e')
  await expect(selected(page)).toContainText('tool')
  await detail(page).getByRole('tab', { name: 'Code' }).click()
  await expect(detail(page)).toContainText('captures no code')
})

test('a trace of 30,000 calls answers, and opens at a call deep in it', async ({ page, server, project }) => {
  const trace = await loadTrace(server.url, project)
  await page.goto(`/${project}/calls/${trace.failed}`)
  await expect(selected(page)).toContainText('search_web')
  await tree(page)
    .getByRole('row', { name: /agent_step/ })
    .first()
    .click()
  await expect(selected(page)).toContainText('agent_step')
  await expect(page.getByText('30.0k calls', { exact: true })).toBeVisible()
  await page.goto(`/${project}/calls/${trace.deepest}`)
  await expect(selected(page)).toHaveAttribute('aria-level', '2002')
  await expect(selected(page)).toBeInViewport()
})

test('a trace, its parts, a thread and what is missing have no serious violation', async ({
  page,
  server,
  project,
}) => {
  const trace = await loadTrace(server.url, project, SMALL)
  const talk = await loadTalk(server.url, project)
  await page.goto(`/${project}/calls/${trace.failed}`)
  await expect(detail(page).getByRole('region', { name: 'Exception' })).toBeVisible()
  await expect(selected(page)).toBeVisible()
  await page.keyboard.press('w')
  await expect(
    tree(page)
      .getByRole('row', { name: /on the critical path/ })
      .first(),
  ).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.goto(`/${project}/calls/${talk.chat}`)
  await expect(detail(page).getByRole('table')).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  for (const name of ['Input and output', 'Attributes', 'Feedback', 'Code', 'Cost', 'Raw']) {
    await detail(page).getByRole('tab', { name }).click()
    expect(await seriousViolations(page)).toEqual([])
  }
  await page.goto(`/${project}/threads?thread=${talk.thread}`)
  await expect(page.getByRole('article', { name: /^Turn/ })).toHaveCount(3)
  expect(await seriousViolations(page)).toEqual([])
  await page.goto(`/${project}/calls/not-there`)
  await expect(page.getByRole('heading', { name: 'There is no such call' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.goto(`/${project}-empty/threads`)
  await expect(page.getByRole('heading', { name: 'No threads yet' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
})

test('a phone shows the tree over the call', async ({ page, server, project }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const trace = await loadTrace(server.url, project, SMALL)
  await page.goto(`/${project}/calls/${trace.failed}`)
  await expect(selected(page)).toBeInViewport()
  await expect(detail(page).getByText('the index did not answer')).toBeInViewport()
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(width).toBeLessThanOrEqual(390)
})

test('a call that is deleted elsewhere is said to be gone, and what was typed about it stays', async ({
  page,
  server,
  project,
}) => {
  const [open, noted] = [newId(), newId()]
  const times = { started_at: new Date().toISOString(), ended_at: new Date().toISOString() }
  const batch = [open, noted].map((id) => {
    return { id, trace_id: newId(), op_name: `op_${id}`, ...times, attributes: {}, inputs: {}, summary: {} }
  })
  await post(server.url, `/v2/${project}/calls/complete`, { batch })
  const peek = page.getByRole('complementary', { name: 'call' })
  const note = peek.getByRole('textbox', { name: 'Note' })
  const write = async (id: string, text: string) => {
    await page.goto(`/${project}/traces`)
    await page.getByRole('grid', { name: 'Calls' }).getByText(`op_${id}`).click()
    await expect(peek.getByRole('button', { name: 'Good' })).toBeEnabled()
    await peek.getByRole('button', { name: 'Note' }).click()
    await note.fill(text)
    await post(server.url, '/calls/delete', { project_id: project, call_ids: [id] })
  }
  await write(open, 'not saved yet')
  await peek.getByRole('button', { name: 'Good' }).click()
  await expect(peek.getByText('There is no such call')).toBeVisible()
  await expect(peek.getByRole('heading', { name: 'Call', exact: true })).toBeVisible()
  await expect(note).toHaveValue('not saved yet')
  await expect(peek.getByRole('button', { name: 'Save' })).toBeDisabled()

  await write(noted, 'saved too late')
  await note.press('Enter')
  await expect(peek.getByText('There is no such call')).toBeVisible()
  await expect(peek.getByText('saved too late')).toBeVisible()
  await expect(peek.getByRole('button', { name: 'Note' })).toHaveCount(0)
  expect(await seriousViolations(page)).toEqual([])
})
