import type { WireServer } from '../wire/server.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { runWeave } from './weave-client.ts'

/** Two evaluations by the real client: `large` is right more often than `small`, but raises in 4 of 50 rows. */
async function evaluated(server: WireServer, project: string): Promise<{ small: string; large: string }> {
  const ids = await runWeave('weave_crashing_models.py', server, project)
  return { small: String(ids['small']), large: String(ids['large']) }
}

test('an evaluation whose model raises has one score everywhere: errors are failures, and are shown', async ({
  page,
  project,
  server,
}) => {
  const { small, large } = await evaluated(server, project)
  await page.goto(`/${project}/evaluations`)
  const list = page.getByRole('grid', { name: 'Evaluations' })
  const listed = list.getByRole('row', { name: /adding, large/ })
  await expect(listed.getByRole('img', { name: 'exact.correct: 0.84' })).toBeVisible()
  // Trials, errors.
  await expect(listed).toContainText(/50\s*4/)
  await expect(listed).not.toContainText('client')

  await page.goto(`/${project}/compare?runs=${encodeURIComponent(JSON.stringify([small, large]))}`)
  const summary = page.getByRole('region', { name: 'Summary' })
  const correct = summary.getByRole('row', { name: /exact correct/ })
  await expect(correct).toContainText('80.0')
  await expect(correct).toContainText('84.0')
  await expect(correct).toContainText('42 of 50')
  await expect(correct).not.toContainText('the client says')
  await expect(summary.getByRole('row', { name: /^Errors/ })).toContainText('4')

  const rows = page.getByRole('grid', { name: 'Rows' })
  await expect(page.getByRole('combobox', { name: 'Order of the rows' })).toContainText('Regressions first')
  // Where `large` raised and `small` did not, then where it is wrong and `small` is not.
  for (const at of [1, 2, 3, 4]) await expect(rows.getByRole('row').nth(at)).toContainText('ValueError: ')
  await expect(rows.getByRole('row').nth(5)).toContainText('22')
  await expect(rows.getByRole('row').nth(5)).toContainText('▼')
  // Any run's values can be sorted by themselves.
  await rows.getByRole('columnheader', { name: 'B verbose' }).getByRole('button').click()
  await expect(rows.getByRole('columnheader', { name: 'B verbose' })).toHaveAttribute(
    'aria-sort',
    'descending',
  )
  await page.getByRole('combobox', { name: 'Order of the rows' }).click()
  await page.getByRole('option', { name: 'Regressions first' }).click()
  await expect(rows.getByRole('row').nth(1)).toContainText('ValueError: ')
  await rows.getByRole('row').nth(1).click()
  const peek = page.getByRole('complementary', { name: 'row' })
  await expect(peek.getByRole('note', { name: 'Error' })).toContainText('does not fit')
  expect(await seriousViolations(page)).toEqual([])

  await page.goto(`/${project}/compare?runs=${encodeURIComponent(JSON.stringify([large]))}`)
  await expect(correct).toContainText('84.0')
  await expect(rows.getByRole('row').nth(4)).toContainText('ValueError: ')
  await expect(rows.getByRole('row').nth(5)).not.toContainText('ValueError: ')

  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/${project}/compare?runs=${encodeURIComponent(JSON.stringify([small, large]))}`)
  await expect(rows.getByRole('row', { name: /B 0 error/ }).first()).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})

test('which direction of a metric is better is decided once, for everybody', async ({
  page,
  project,
  server,
  browser,
}) => {
  const { small, large } = await evaluated(server, project)
  const address = `/${project}/compare?runs=${encodeURIComponent(JSON.stringify([small, large]))}`
  await page.goto(address)
  const verbose = page.getByRole('region', { name: 'Summary' }).getByRole('row', { name: /^verbose/ })
  // Of all rows the mean is higher, but not of those that both have scored.
  await expect(verbose).toContainText('in 46 of 50 rows')
  await expect(verbose).toContainText('▼')
  await verbose.getByRole('button', { name: 'More verbose is better: turn round' }).click()
  await expect(verbose).toContainText('▲')
  await page.reload()
  await expect(verbose).toContainText('▲')

  const other = await (await browser.newContext({ baseURL: server.url })).newPage()
  await other.goto(address)
  const seen = other.getByRole('region', { name: 'Summary' }).getByRole('row', { name: /^verbose/ })
  await expect(seen).toContainText('▲')
  await seen.getByRole('button', { name: 'Less verbose is better: turn round' }).click()
  await expect(seen).toContainText('▼')
  await page.reload()
  await expect(verbose).toContainText('▼')
  await other.context().close()
})
