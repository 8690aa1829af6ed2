import type { Route } from '@playwright/test'
import { KEY } from '../wire/server.ts'
import { expect, seriousViolations, test } from './heddle.ts'

async function post(url: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${KEY}` }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Record<string, unknown>
}

/** A version of a dataset whose rows count to `count`. */
async function publish(url: string, project: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    question: `What is ${n} + ${n}?`,
    expected: 2 * n,
  }))
  await post(url, `/v2/${project}/datasets`, { name: 'sums', rows })
}

test('a dataset: its rows, an older version, one row', async ({ page, project, server }) => {
  await publish(server.url, project, 3)
  await publish(server.url, project, 250)
  await page.goto(`/${project}/datasets`)
  const dataset = page.getByRole('grid', { name: 'Datasets' }).getByRole('row', { name: /sums/ })
  await expect(dataset).toContainText('250')
  await dataset.click()
  const rows = page.getByRole('grid', { name: 'Rows' })
  await expect(rows).toHaveAttribute('aria-rowcount', '251')
  await rows.getByRole('row', { name: /What is 1 \+ 1\?/ }).click()
  await expect(page.getByRole('complementary', { name: 'row' })).toContainText('"What is 1 + 1?"')
  await page.keyboard.press('Escape')
  await page.getByRole('combobox', { name: 'Version' }).click()
  await page.getByRole('option', { name: 'v0' }).click()
  await expect(rows).toHaveAttribute('aria-rowcount', '4')
  await page.reload()
  await expect(rows).toHaveAttribute('aria-rowcount', '4')
})

test('columns of any name are shown, what a row lacks is no null, and columns without a place are counted', async ({
  page,
  project,
  server,
}) => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`column ${at}`, at]))
  const rows = [{ '': 'nameless', 'two\nlines': 'here', empty: null, ...many }, { 'two\nlines': 'alone' }]
  await post(server.url, `/v2/${project}/datasets`, { name: 'odd', rows })
  await page.goto(`/${project}/datasets?name=odd`)
  const grid = page.getByRole('grid', { name: 'Rows' })
  await expect(grid.getByRole('row', { name: /nameless.*here.*null/s })).toBeVisible()
  await expect(grid.getByRole('columnheader', { name: 'two lines' })).toHaveCount(1)
  await expect(grid.getByRole('columnheader', { name: '(no name)' })).toHaveCount(1)
  const second = grid.getByRole('row', { name: /alone/ })
  await expect(second).toContainText('–')
  await expect(second).not.toContainText('null')
  await expect(page.getByText('+9 columns')).toBeVisible()
})

test('a row far down in a dataset opens from a link, and keys go on from it', async ({
  page,
  project,
  server,
}) => {
  await publish(server.url, project, 250)
  await page.goto(`/${project}/datasets?name=sums&open=180`)
  const row = page.getByRole('complementary', { name: 'row' })
  await expect(row.getByRole('tree', { name: 'Row' })).toContainText('What is 180 + 180?')
  await row.getByRole('button', { name: 'Next' }).click()
  await expect(row.getByRole('tree', { name: 'Row' })).toContainText('What is 181 + 181?')
  await page.keyboard.press('k')
  await page.keyboard.press('k')
  await expect(row.getByRole('tree', { name: 'Row' })).toContainText('What is 179 + 179?')
  const rows = page.getByRole('grid', { name: 'Rows' })
  await expect(rows.getByRole('row', { name: /What is 179 \+ 179\?/ })).toBeVisible()
  await rows.evaluate((element) => element.scrollTo(0, 0))
  await expect(rows.getByRole('row', { name: /What is 3 \+ 3\?/ })).toBeVisible()
  await expect(row.getByRole('tree', { name: 'Row' })).toContainText('What is 179 + 179?')
})

test('a list with more rows than a browser can scroll to says so', async ({ page, project, server }) => {
  await publish(server.url, project, 3)
  await page.route('**/table/query_stats_batch', async (route) => {
    const reply = await route.fetch()
    const { tables } = (await reply.json()) as { tables: object[] }
    await route.fulfill({ json: { tables: tables.map((table) => ({ ...table, count: 2_000_000 })) } })
  })
  await page.goto(`/${project}/datasets?name=sums`)
  await expect(page.getByRole('note')).toContainText('The list ends after its first')
  const rows = page.getByRole('grid', { name: 'Rows' })
  await expect(rows).toHaveAttribute('aria-rowcount', '2000001')
  await rows.getByRole('row', { name: /What is 1/ }).focus()
  await page.keyboard.press('End')
  await expect(rows.locator('[data-index="607141"]')).toBeInViewport()
})

test('of a row with a long list only the lines in view are in the document', async ({
  page,
  project,
  server,
}) => {
  const list = Array.from({ length: 20_000 }, (_, index) => index)
  await post(server.url, `/v2/${project}/datasets`, { name: 'long', rows: [{ list }] })
  await page.goto(`/${project}/datasets?name=long&open=0`)
  const row = page.getByRole('tree', { name: 'Row' })
  await expect(row.getByRole('treeitem').nth(20)).toBeVisible()
  expect(await row.getByRole('treeitem').count()).toBeLessThan(200)
  await row.focus()
  await page.keyboard.press('End')
  await expect(row).toContainText('… 10,000 more')
})

test('what was loaded stays when it cannot be read again', async ({ page, project, server }) => {
  await publish(server.url, project, 3)
  await page.clock.install()
  for (const [path, shown] of [
    ['datasets', page.getByRole('grid', { name: 'Datasets' })],
    ['datasets?name=sums', page.getByRole('grid', { name: 'Rows' })],
    ['library?kind=datasets', page.getByRole('grid', { name: 'Datasets' })],
    ['objects/sums/versions/latest', page.getByRole('tree', { name: 'Value' })],
  ] as const) {
    await page.goto(`/${project}/${path}`)
    await expect(shown).toContainText(/sums|What is/)
    const refuse = (route: Route) => route.fulfill({ status: 400, json: { reason: 'Too much is read' } })
    await page.route(/\/(objs\/query|obj\/read|table\/.*)$/, refuse)
    await page.clock.fastForward(60_000)
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
    await expect(page.getByRole('status').filter({ hasText: 'Too much is read' }), path).toBeVisible()
    await expect(shown).toContainText(/sums|What is/)
    await page.unrouteAll()
  }
})

test('texts of a dataset are shown as they are: none is run, loaded or a link to a script', async ({
  page,
  project,
  server,
}) => {
  const run = 'window.wasRun = true'
  const elsewhere = 'https://elsewhere.example'
  const rows = [
    {
      image: `<img src="${elsewhere}/x.png" onerror="${run}">`,
      script: `<script>${run}</script>`,
      link: `javascript:${run}`,
      markdown: `[click](javascript:${run}) ![seen](${elsewhere}/y.png)`,
      page: `data:text/html,<script>parent.${run}</script>`,
      [`<svg onload="${run}">`]: { nested: `"><script>${run}</script>` },
    },
  ]
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url()))
      foreign.push(request.url())
  })
  await post(server.url, `/v2/${project}/datasets`, { name: 'hostile', rows })
  await page.goto(`/${project}/datasets?name=hostile&open=0`)
  const row = page.getByRole('tree', { name: 'Row' })
  await expect(row).toContainText(`<script>${run}</script>`)
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText('<svg onload=')
  await page.goto(`/${project}/objects/hostile/versions/latest`)
  await page.getByRole('tree', { name: 'Value' }).waitFor()
  await page.goto(`/${project}/datasets?name=hostile&open=0`)
  await row.waitFor()
  expect(await page.evaluate(() => 'wasRun' in window)).toBe(false)
  expect(await page.locator('[href^="javascript:" i], [href^="data:" i], main svg[onload]').count()).toBe(0)
  expect(foreign).toEqual([])
})

test('the link that clients print for an object opens its value and its code', async ({
  page,
  project,
  server,
}) => {
  await post(server.url, `/v2/${project}/ops`, {
    name: 'add',
    source_code: 'def add(a, b):\n    return a + b\n',
  })
  await page.goto(`/${project}/weave/ops/add/versions/latest`)
  await expect(page.getByRole('region', { name: 'Code' })).toContainText('return a + b')
  await expect(page.getByRole('tree', { name: 'Value' })).toBeVisible()
})

test('two versions of an op are compared line by line, from a link too', async ({
  page,
  project,
  server,
}) => {
  const body = Array.from({ length: 30 }, (_, index) => `    step_${index}()\n`).join('')
  for (const sign of ['+', '-'])
    await post(server.url, `/v2/${project}/ops`, {
      name: 'combine',
      source_code: `def combine(a, b):\n${body}    return a ${sign} b\n`,
    })
  await page.goto(`/${project}/weave/ops/combine/versions/latest`)
  await page.getByRole('combobox', { name: 'Compare with' }).click()
  await page.getByRole('option', { name: 'with v0' }).click()
  const code = page.getByRole('region', { name: 'Code' })
  await expect(code).toContainText('1 line differs')
  await expect(code.locator('del')).toHaveText('+')
  await expect(code.locator('ins')).toHaveText('-')
  await expect(code).not.toContainText('step_2()')
  await page.reload()
  await code.getByRole('button', { name: 'Everything' }).click()
  await expect(code).toContainText('step_2()')
  expect(await seriousViolations(page)).toEqual([])
})

test('datasets have no serious violation', async ({ page, project, server }) => {
  await page.goto(`/${project}/datasets`)
  await page.getByRole('heading', { name: 'No datasets yet' }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
  await publish(server.url, project, 30)
  await page.goto(`/${project}/datasets?name=sums&open=2`)
  await page.getByRole('tree', { name: 'Row' }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
  await page.goto(`/${project}/objects/sums/versions/latest`)
  await page.getByRole('tree', { name: 'Value' }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
})
