import { loadCalls } from './bulk.ts'
import { expect, test } from './heddle.ts'
import { bar, grid, title } from './traces-page.ts'

test('calls are chosen one by one, as a range and all at once, exported and deleted', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 320 })
  await page.goto(`/${project}/traces`)
  const rows = grid(page).getByRole('row')
  await expect(rows.nth(5)).toContainText('Answer')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await expect(bar(page)).toContainText('1 call chosen')
  await expect(rows.nth(1)).toHaveAttribute('aria-selected', 'true')
  await page.getByRole('checkbox', { name: 'Choose row 4', exact: true }).click({ modifiers: ['Shift'] })
  await expect(bar(page)).toContainText('4 calls chosen')
  await page.keyboard.press('j')
  await page.keyboard.press('Shift+X')
  await expect(bar(page)).toContainText('5 calls chosen')
  await page.keyboard.press('x')
  await expect(bar(page)).toContainText('4 calls chosen')

  await bar(page).getByRole('button', { name: 'Export' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /JSON lines/ }).click()
  const lines = String(await (await saving).createReadStream().then((stream) => stream.toArray()))
    .trim()
    .split('\n')
  expect(lines).toHaveLength(4)

  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 4 calls' }).click()
  await expect(title(page)).toContainText('316 calls')
  await expect(bar(page)).toBeHidden()

  await page.getByRole('combobox', { name: 'Search calls' }).fill('status:success')
  await page.keyboard.press('Enter')
  await expect(title(page)).toContainText(/29\d calls/)
  await expect(page.getByRole('checkbox', { name: 'Choose row 2', exact: true })).toBeVisible()
  await page.getByRole('checkbox', { name: 'Choose row 2', exact: true }).click()
  await bar(page)
    .getByRole('button', { name: /^Choose all 29\d that match/ })
    .click()
  await expect(bar(page)).toContainText(/All 29\d calls that match are chosen/)
  await page.getByRole('checkbox', { name: 'Choose row 1', exact: true }).click()
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Delete 29\d calls/ })
    .click()
  await expect(title(page)).toContainText('1 call')
  await page.getByRole('button', { name: 'Drop status is success' }).click()
  await expect(title(page)).toContainText(/^Traces2\d calls/)
})

test('all calls are chosen of a list that has loaded, not of one whose calls are still those before', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 20 })
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('20 calls')
  const all = page.getByRole('checkbox', { name: 'Choose all rows' })
  await expect(all).toBeEnabled()
  const counting = Promise.withResolvers<void>()
  await page.route('**/calls/query_stats', async (route) => {
    await counting.promise
    await route.fallback()
  })
  await page.getByRole('combobox', { name: 'Search calls' }).fill('status:success')
  await page.keyboard.press('Enter')
  await expect(all).toBeDisabled()
  counting.resolve()
  await expect(all).toBeEnabled()
})

test('deleting tells how far it is, can be stopped, and says when it fails', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 350 })
  await page.goto(`/${project}/traces`)
  let portions = 0
  let release = (): void => undefined
  await page.route('**/calls/delete', async (route) => {
    expect(route.request().postDataJSON().call_ids.length).toBeLessThanOrEqual(100)
    portions++
    if (portions === 2)
      await new Promise<void>((go) => {
        release = go
      })
    if (portions === 3) return route.fulfill({ status: 503, json: { reason: 'The disk is full' } })
    return route.continue()
  })
  await page.getByRole('checkbox', { name: 'Choose all rows' }).check()
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 350 calls' }).click()
  await expect(bar(page)).toContainText('Deleting 100 of 350')
  await expect(bar(page).getByRole('button', { name: 'Stop' })).toBeVisible()
  await expect.poll(() => portions).toBe(2)
  release()
  await expect(page.getByText('200 of 350 calls were deleted')).toBeVisible()
  await expect(page.getByText('The disk is full')).toBeVisible()
  await expect(title(page)).toContainText('150 calls')
})
