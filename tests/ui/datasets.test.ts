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
