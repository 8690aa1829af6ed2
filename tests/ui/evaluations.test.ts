import type { WireServer } from '../wire/server.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { runWeaveOnce } from './weave-client.ts'

const PROJECT = 'local/capitals'

/**
 * Two evaluations of the same rows by the real client, which tests only read: `tuned` is right more often than `base`.
 */
async function evaluated(server: WireServer): Promise<{ base: string; tuned: string }> {
  const ids = await runWeaveOnce('weave_two_models.py', server, PROJECT)
  return { base: String(ids['base']), tuned: String(ids['tuned']) }
}

test('two evaluations are compared: the better one, the rows that differ, a row and its trace', async ({
  page,
  server,
}) => {
  await evaluated(server)
  await page.goto(`/${PROJECT}/evaluations`)
  const list = page.getByRole('grid', { name: 'Evaluations' })
  await expect(list.getByRole('row', { name: /capitals, tuned/ })).toBeVisible()
  for (const name of [/capitals, base/, /capitals, tuned/])
    await list.getByRole('row', { name }).getByRole('checkbox').click()
  await page.getByRole('button', { name: 'Compare 2' }).click()

  const summary = page.getByRole('region', { name: 'Summary' })
  const right = summary.getByRole('row', { name: /names_it right/ })
  await expect(right).toContainText('50.0')
  await expect(right).toContainText('90.0')
  await expect(right).toContainText('better')
  await expect(summary).toContainText('60 rows')

  const metric = right.getByRole('button', { name: 'names_it right', exact: true })
  await metric.click()
  await metric.click()
  await expect(page.getByRole('combobox', { name: 'Order of the rows' })).toContainText(
    'Better in names_it.right first',
  )
  const rows = page.getByRole('grid', { name: 'Rows' })
  const first = rows.getByRole('row').nth(1)
  await expect(first).toContainText('▲')
  await first.click()
  const peek = page.getByRole('complementary', { name: 'row' })
  await expect(peek.getByRole('tree', { name: 'Output' })).toHaveCount(2)
  const answer = Promise.withResolvers<void>()
  await page.route('**/eval_results/query', async (route) => {
    await answer.promise
    await route.continue()
  })
  await page.keyboard.press('j')
  // What is still that of the row before is dimmed.
  await expect(peek.locator('[aria-busy=true]')).toBeVisible()
  answer.resolve()
  await expect(peek.locator('[aria-busy=true]')).toHaveCount(0)
  await expect(peek.getByRole('tree', { name: 'Output' })).toHaveCount(2)
  await page.reload()
  await expect(peek.getByRole('tree', { name: 'Output' })).toHaveCount(2)
  await page.keyboard.press('Escape')
  await expect(peek).toHaveCount(0)
  await summary.getByRole('button', { name: 'Make B the baseline' }).click()
  await expect(right).toContainText('worse')
})

test('charts of a comparison: how the scores lie, which rows got better, and a row from its dot', async ({
  page,
  server,
}) => {
  const { base, tuned } = await evaluated(server)
  await page.goto(`/${PROJECT}/compare?runs=${encodeURIComponent(JSON.stringify([base, tuned]))}`)
  // The tabs stand below the summary, and move when it comes.
  await expect(page.getByRole('region', { name: 'Summary' })).toContainText('60 rows')
  await page.getByRole('tab', { name: 'Charts' }).click()
  const lengths = page.getByRole('figure', { name: 'length', exact: true })
  await expect(lengths.getByRole('img', { name: /^A: 60 values from .* median/ })).toBeVisible()
  await expect(lengths.getByRole('img', { name: /^B: 60 values/ })).toBeVisible()
  const right = page.getByRole('figure', { name: 'names_it.right' })
  await expect(right.getByRole('img', { name: 'B: 54 of 60' })).toBeVisible()

  const rows = page.getByRole('region', { name: 'Rows against each other' })
  await expect(
    rows.getByRole('img', {
      name: 'B names_it.right is better than A names_it.right in 24 rows, worse in 0, the same in 36',
    }),
  ).toBeVisible()
  await rows.getByRole('combobox', { name: 'Upwards' }).click()
  await page.getByRole('option', { name: 'A length' }).click()
  const plot = rows.getByRole('img', { name: '60 rows by A names_it.right and A length' })
  await plot.locator('circle').last().hover()
  await expect(rows).toContainText(/A length \d+: .*What is capital number/)
  await plot.locator('circle').last().click()
  const peek = page.getByRole('complementary', { name: 'row' })
  await expect(peek.getByRole('tree', { name: 'Output' })).toHaveCount(2)
  await page.reload()
  await expect(peek.getByRole('tree', { name: 'Output' })).toHaveCount(2)
  await peek.getByRole('button', { name: 'Previous' }).click()
  await expect(peek.getByRole('heading', { name: 'Row 59' })).toBeVisible()
})

test('a comparison says which of its evaluations are not there, and that it shows no more than eight', async ({
  page,
  server,
}) => {
  const { base, tuned } = await evaluated(server)
  const compare = (runs: readonly string[]) =>
    page.goto(`/${PROJECT}/compare?runs=${encodeURIComponent(JSON.stringify(runs))}`)
  await compare(['nowhere'])
  await expect(page.getByRole('heading', { name: 'There is no such evaluation' })).toBeVisible()
  await compare([base, 'nowhere', tuned])
  await expect(page.getByRole('note')).toHaveText('Not found in this project: nowhere')
  await expect(page.getByRole('region', { name: 'Summary' })).toContainText('60 rows')
  await compare([base, tuned, ...Array.from({ length: 7 }, (_, at) => `nowhere ${at}`)])
  await expect(page.getByRole('note').first()).toContainText('8 of 9 evaluations are shown')
})

test('evaluations have no serious violation', async ({ page, server }) => {
  await page.goto(`/${PROJECT}-empty/evaluations`)
  await page.getByRole('heading', { name: 'No evaluations yet' }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
  const { base, tuned } = await evaluated(server)
  await page.goto(`/${PROJECT}/evaluations`)
  await page.getByRole('row', { name: /capitals, base/ }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
  await page.goto(`/${PROJECT}/compare?runs=${encodeURIComponent(JSON.stringify([base, tuned]))}&open=0`)
  await page.getByRole('tree', { name: 'Output' }).first().waitFor()
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Charts' }).click()
  await page.getByRole('region', { name: 'Rows against each other' }).getByRole('img').waitFor()
  expect(await seriousViolations(page)).toEqual([])
})
