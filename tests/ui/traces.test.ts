import { loadCalls } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { bar, grid, title } from './traces-page.ts'

const YEAR_MS = 365 * 86_400_000

test('find a failed call, judge it, and find all of it again after a reload', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 300 })
  await page.goto(`/${project}/traces`)
  const rows = page.getByRole('grid', { name: 'Calls' }).getByRole('row')
  await expect(page.getByRole('heading', { name: /^Traces/ })).toContainText('300 calls')

  await page.keyboard.press('/')
  await page.keyboard.type('status:error')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: /^Traces/ })).toContainText('23 calls')
  await expect(rows.nth(1)).toContainText('TimeoutError')

  await page
    .getByRole('searchbox')
    .or(page.getByRole('combobox', { name: 'Search calls' }))
    .press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect(rows.nth(2)).toBeFocused()
  await page.keyboard.press('Enter')
  const peek = page.getByRole('complementary', { name: 'call' })
  await expect(peek.getByRole('heading', { name: 'Exception' })).toBeVisible()
  const third = await rows.nth(3).getByRole('gridcell').nth(1).textContent()
  await page.keyboard.press('j')
  await expect(peek.getByRole('heading', { level: 2 })).toHaveText(third?.replace(/^error/, '') ?? '')

  await page.keyboard.press('-')
  await expect(peek.getByRole('button', { name: 'Bad' })).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('n')
  await page.keyboard.type('The deadline is too short')
  await page.keyboard.press('Enter')
  await expect(peek.getByText('The deadline is too short')).toBeVisible()
  // Only a note that is stored can be removed.
  await expect(peek.getByRole('button', { name: 'Remove the note' })).toBeVisible()
  await expect(rows.nth(3)).toContainText('👎')

  await page.reload()
  await expect(page.getByRole('button', { name: 'Drop status is error' })).toBeVisible()
  await expect(peek.getByText('The deadline is too short')).toBeVisible()
  await expect(peek.getByRole('button', { name: 'Bad' })).toHaveAttribute('aria-pressed', 'true')

  await peek.getByRole('button', { name: 'Bad' }).click()
  await expect(peek.getByRole('button', { name: 'Bad' })).toHaveAttribute('aria-pressed', 'false')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(peek.getByRole('button', { name: 'Bad' })).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('Escape')
  await expect(peek).toBeHidden()
})

test('a thumb that is given before the feedback of the call has been loaded is not lost', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 3 })
  const loaded = Promise.withResolvers<void>()
  await page.route('**/feedback/query', async (route) => {
    await loaded.promise
    await route.continue()
  })
  await page.goto(`/${project}/traces`)
  const newest = page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(1)
  // A row that is still to be loaded opens nothing.
  await expect(newest).toContainText('retrieve')
  await newest.click()
  const bad = page.getByRole('complementary', { name: 'call' }).getByRole('button', { name: 'Bad' })
  await expect(bad).toBeDisabled()
  await page.keyboard.press('-')
  loaded.resolve()
  await expect(bad).toHaveAttribute('aria-pressed', 'true')
})

test('a click that comes before what it opens has been loaded is not lost', async ({
  page,
  project,
  server,
}) => {
  await loadCalls(server.url, project, { count: 20 })
  let load = (): void => undefined
  const clicked = new Promise<void>((fulfil) => {
    load = fulfil
  })
  await page.route(/popover-popup|menu-popup/, async (route) => {
    await clicked
    await route.continue()
  })
  await page.goto(`/${project}/traces`)
  await page.getByRole('button', { name: 'Filter' }).click()
  load()
  await expect(page.getByRole('combobox', { name: 'Field' })).toBeVisible()
})

test('a condition is built from the values that exist', async ({ page, server, project }) => {
  await loadCalls(server.url, project, { count: 120 })
  await page.goto(`/${project}/traces`)
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('combobox', { name: 'Field' }).fill('attributes.env')
  await page.getByRole('option', { name: /attributes\.env/ }).click()
  await page.getByRole('combobox', { name: 'Value' }).click()
  await page.getByRole('option', { name: /staging/ }).click()
  await expect(page.getByRole('button', { name: 'Drop attributes.env is staging' })).toBeVisible()
  await expect(page.getByRole('heading', { name: /^Traces/ })).toContainText('40 calls')
})

test('new calls come by themselves at the top, and are counted while one looks at others', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 200 })
  await page.goto(`/${project}/traces`)
  const title = page.getByRole('heading', { name: /^Traces/ })
  await expect(title).toContainText('200 calls')
  const soon = { count: 5, now: Date.now() + 65_000, spanMs: 64_000 }
  await loadCalls(server.url, project, { ...soon, first: 1000 })
  await expect(title).toContainText('205 calls')
  await page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(2).click()
  await loadCalls(server.url, project, { ...soon, now: soon.now + 600_000, first: 2000 })
  await page.getByRole('button', { name: '5 new' }).click()
  await expect(title).toContainText('210 calls')
})

test('calls that arrive when they have ended come by themselves, among those that started later', async ({
  page,
  server,
  project,
}) => {
  await page.goto(`/${project}/traces`)
  await expect(page.getByRole('heading', { name: 'No calls yet' })).toBeVisible()
  await loadCalls(server.url, project, { count: 20, spanMs: 1000 })
  const title = page.getByRole('heading', { name: /^Traces/ })
  await expect(title).toContainText('20 calls')
  await loadCalls(server.url, project, { count: 3, now: Date.now() - 600_000, spanMs: 1000, first: 100 })
  await expect(title).toContainText('23 calls')
})

test('a call by a clock that is far ahead hides no others, and new ones still come', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 20, spanMs: 60_000 })
  await loadCalls(server.url, project, { count: 1, now: Date.now() + YEAR_MS, spanMs: 1, first: 500 })
  await page.goto(`/${project}/traces`)
  const title = page.getByRole('heading', { name: /^Traces/ })
  await expect(title).toContainText('21 calls')
  await expect(page.getByRole('button', { name: 'Last 24 hours' })).toBeVisible()
  await loadCalls(server.url, project, { count: 5, now: Date.now() + 61_000, spanMs: 1, first: 1000 })
  await expect(title).toContainText('26 calls')
})

test('a column is made of any path, and stays', async ({ page, server, project }) => {
  await loadCalls(server.url, project, { count: 50 })
  await page.goto(`/${project}/traces`)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('textbox', { name: 'Find a column' }).fill('customer.plan')
  await page.getByRole('checkbox', { name: /customer\.plan/ }).check()
  await page.keyboard.press('Escape')
  const header = page.getByRole('columnheader', { name: 'customer.plan' })
  await expect(header).toBeVisible()
  await page.reload()
  await expect(header).toBeVisible()
  await expect(page.getByRole('grid').getByRole('row').nth(1)).toContainText('free')
})

test('the calls of a list are saved as a file', async ({ page, server, project }) => {
  await loadCalls(server.url, project, { count: 60 })
  await page.goto(`/${project}/traces`)
  await page.getByRole('button', { name: 'Export' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  const stream = await (await saving).createReadStream()
  const text = (await stream.toArray()).map(String).join('')
  expect(text.trim().split('\n')).toHaveLength(61)
  expect(text).toContain('op,started_at,inputs,output,latency_ms')
})

test('a histogram says that it shows the last days alone, and a start in the future is no start now', async ({
  page,
  server,
  project,
}) => {
  const now = Date.now()
  await loadCalls(server.url, project, { count: 1, now: now - 60 * 86_400_000 })
  await loadCalls(server.url, project, { count: 1, first: 1, now: now + 30 * 3_600_000 })
  await page.goto(`/${project}/traces?range=all`)
  await expect(page.getByRole('img', { name: /Calls over time, only the last 31 days/ })).toBeVisible()
  const future = new Date(now + 365 * 86_400_000).toISOString()
  await page.goto(`/${project}/traces?range=${new Date(now).toISOString()}..${future}`)
  const rows = grid(page).getByRole('row')
  await expect(rows).toHaveCount(2)
  await expect(rows.nth(1)).not.toContainText('now')
  await expect(page.getByRole('img', { name: /Calls over time: 1 started/ })).toBeVisible()
  await page.goto(`/${project}/traces?range=0001-01-01T00:00:00.000Z..9999-12-31T00:00:00.000Z`)
  await expect(rows).toHaveCount(3)
  await expect(
    page.getByRole('img', { name: /Calls over time, only the last 31 days: 1 started/ }),
  ).toBeVisible()
})

test('a cell filters the list, becomes columns and is copied, by keys too', async ({
  page,
  server,
  project,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await loadCalls(server.url, project, { count: 60 })
  await page.goto(`/${project}/traces`)
  const rows = grid(page).getByRole('row')
  await expect(rows.nth(5)).toContainText('Answer')
  await page.keyboard.press('j')
  await page.keyboard.press('c')
  const op = (await rows.nth(1).getByRole('gridcell').nth(1).textContent())?.replace(/^(success|error)/, '')
  await expect(page.getByRole('menuitem', { name: `op is ${op}` })).toBeVisible()
  await page.getByRole('menuitem', { name: `op is not ${op}` }).click()
  await expect(page.getByRole('button', { name: `Drop op is not ${op}` })).toBeVisible()
  await expect(title(page)).toContainText('50 calls')
  await page.keyboard.press('j')
  for (let at = 0; at < 3; at++) await page.keyboard.press('ArrowRight')
  await page.keyboard.press('c')
  await page.getByRole('menuitem', { name: 'inputs.customer.plan' }).click()
  const plan = page.getByRole('columnheader', { name: 'customer.plan' })
  await expect(plan).toBeVisible()
  const cell = rows.nth(2).getByRole('gridcell').last()
  await expect(cell).toContainText(/free|pro/)
  await cell.hover()
  await page.getByRole('button', { name: 'What can be done with this cell of customer.plan' }).click()
  await page.getByRole('menuitem', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^(free|pro)$/)
  await expect(page.getByRole('menu')).toBeHidden()
  await cell.hover()
  await page.getByRole('button', { name: 'What can be done with this cell of customer.plan' }).click()
  await page.getByRole('menuitem', { name: /inputs.customer.plan is (free|pro)/ }).click()
  await expect(title(page)).toContainText(/^Traces2\d calls/)
})

test('the filter is read and written as a query', async ({ page, server, project }) => {
  await loadCalls(server.url, project, { count: 120 })
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('120 calls')
  await page.keyboard.press('/')
  await page.keyboard.type('status:error')
  await page.keyboard.press('Enter')
  await expect(title(page)).toContainText('9 calls')
  await page.keyboard.press('Escape')
  await page.keyboard.press('q')
  const dialog = page.getByRole('dialog', { name: 'Edit as query' })
  const editor = dialog.getByRole('textbox', { name: 'Query' })
  await expect(editor).toContainText('{"$getField":"summary.weave.status"}')
  await expect(dialog).toContainText('9 calls match')
  await editor.fill('{"$expr": {"$and": [')
  await expect(dialog.getByRole('status')).toContainText('JSON')
  await expect(dialog.getByRole('button', { name: 'Apply' })).toBeDisabled()
  await editor.fill('{"$expr": {"$near": []}}')
  await expect(dialog.getByRole('status')).toContainText(/\$expr/)
  const op = { $eq: [{ $getField: 'summary.weave.trace_name' }, { $literal: 'rerank' }] }
  const either = { $or: [op, { $in: [{ $getField: 'id' }, [{ $literal: 'x' }]] }] }
  await editor.fill(JSON.stringify({ $expr: { $and: [op, either] } }))
  await expect(dialog).toContainText('20 calls match')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await expect(title(page)).toContainText('20 calls')
  await expect(page.getByRole('button', { name: 'Drop op is rerank' })).toBeVisible()
  await expect(page.getByRole('button', { name: /Drop \{"\$or"/ })).toBeVisible()
  await page.reload()
  await expect(title(page)).toContainText('20 calls')
})

test('rows are as high as one likes, and the bars over time follow the filter', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 260 })
  await page.goto(`/${project}/traces`)
  const row = grid(page).getByRole('row').nth(3)
  await expect(row).toContainText('Answer')
  const heightOf = async () => (await row.boundingBox())?.height
  expect(await heightOf()).toBe(28)
  await page.keyboard.press(']')
  await expect.poll(heightOf).toBe(64)
  await page.keyboard.press(']')
  await expect.poll(heightOf).toBe(154)
  await page.reload()
  await expect.poll(heightOf).toBe(154)
  await page.keyboard.press('[')
  await expect.poll(heightOf).toBe(64)

  await expect(page.getByRole('img', { name: /Calls over time: 260 started, 20 failed/ })).toBeVisible()
  await page.keyboard.press('/')
  await page.keyboard.type('status:error')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('img', { name: /Calls over time: 20 started, 20 failed/ })).toBeVisible()
})

test('the part of a call that is looked at is in the link', async ({ page, server, project }) => {
  await loadCalls(server.url, project, { count: 30 })
  await page.goto(`/${project}/traces`)
  const row = grid(page).getByRole('row').nth(2)
  await expect(row).toContainText('Answer')
  await row.click()
  const peek = page.getByRole('complementary', { name: 'call' })
  await peek.getByRole('tab', { name: 'Attributes' }).click()
  await expect(page).toHaveURL(/tab=attributes/)
  await page.reload()
  await expect(peek.getByRole('tab', { name: 'Attributes' })).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Escape')
  await expect(peek).toBeHidden()
  await expect(page).not.toHaveURL(/tab=/)
})

test('a phone shows the list without boxes, in two lines a call', async ({ page, server, project }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await loadCalls(server.url, project, { count: 60 })
  await page.goto(`/${project}/traces`)
  await expect(grid(page).getByRole('row').nth(3)).toContainText('tokens')
  await expect(page.getByRole('checkbox')).toHaveCount(0)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})

test('links that clients print lead to the page of the call', async ({ page, project }) => {
  await page.goto(`/${project}/r/call/0197`)
  await expect(page).toHaveURL(`/${project}/calls/0197`)
  await page.goto(`/${project}/weave`)
  await expect(page).toHaveURL(`/${project}/traces`)
})

test('the list, the panel, an empty list and an error have no serious violation', async ({
  page,
  server,
  project,
}) => {
  await page.goto(`/${project}/traces`)
  await expect(page.getByRole('heading', { name: 'No calls yet' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])

  await loadCalls(server.url, project, { count: 100 })
  await page.goto(`/${project}/traces`)
  const row = page.getByRole('grid').getByRole('row').nth(3)
  await expect(row).toContainText('Answer')
  expect(await seriousViolations(page)).toEqual([])
  await row.click()
  await expect(page.getByRole('tree', { name: 'Output' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keys' })
  await expect(keys).toContainText('Choose all rows up to here')
  await expect(keys).toContainText('Higher rows')
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(keys).toBeHidden()

  await page.getByRole('checkbox', { name: 'Choose row 2', exact: true }).click()
  await page.keyboard.press(']')
  await page.keyboard.press('c')
  await expect(page.getByRole('menu')).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.keyboard.press('q')
  await expect(page.getByRole('dialog').getByRole('textbox', { name: 'Query' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('dialog')).toContainText('cannot be undone')
  expect(await seriousViolations(page)).toEqual([])

  await page.route('**/calls/stream_query', (route) =>
    route.fulfill({ status: 400, json: { reason: 'No such field' } }),
  )
  await page.goto(`/${project}/traces`)
  await expect(page.getByRole('alert')).toContainText('No such field')
  expect(await seriousViolations(page)).toEqual([])
})
