import { loadCalls } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'

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
    .or(page.getByRole('textbox', { name: 'Search calls' }))
    .press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect(rows.nth(2)).toBeFocused()
  await page.keyboard.press('Enter')
  const peek = page.getByRole('complementary', { name: 'call' })
  await expect(peek.getByRole('heading', { name: 'Exception' })).toBeVisible()
  const third = await rows.nth(3).getByRole('gridcell').first().textContent()
  await page.keyboard.press('j')
  await expect(peek.getByRole('heading', { level: 2 })).toHaveText(third?.replace(/^error/, '') ?? '')

  await page.keyboard.press('-')
  await expect(peek.getByRole('button', { name: 'Bad' })).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('n')
  await page.keyboard.type('The deadline is too short')
  await page.keyboard.press('Enter')
  await expect(peek.getByText('The deadline is too short')).toBeVisible()
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
  await loadCalls(server.url, project, { ...soon, now: soon.now + 10_000, first: 2000 })
  await page.getByRole('button', { name: '5 new' }).click()
  await expect(title).toContainText('210 calls')
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
  expect(text).toContain('Call,Started,Input,Output,Latency')
})

test('links that clients print lead to the page of the call', async ({ page, project }) => {
  await page.goto(`/${project}/r/call/0197`)
  await expect(page).toHaveURL(`/${project}/calls/0197`)
  await page.goto(`/${project}/weave`)
  await expect(page).toHaveURL(`/${project}/traces`)
})

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme })

    test('nobody is kept out of the list, the panel, an empty list and an error', async ({
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
      await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible()
      expect(await seriousViolations(page)).toEqual([])

      await page.route('**/calls/stream_query', (route) =>
        route.fulfill({ status: 400, json: { reason: 'No such field' } }),
      )
      await page.goto(`/${project}/traces`)
      await expect(page.getByRole('alert')).toContainText('No such field')
      expect(await seriousViolations(page)).toEqual([])
    })
  })
}
