import { v7 as newId } from 'uuid'
import { post } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'

/** An evaluation whose trials, one for each row, were scored so. */
async function evaluate(url: string, project: string, scores: readonly object[]): Promise<string> {
  const time = new Date().toISOString()
  const call = (op: string, more: object) => ({
    id: newId(),
    trace_id: newId(),
    op_name: `weave:///${project}/op/Evaluation.${op}:abc`,
    started_at: time,
    ended_at: time,
    attributes: {},
    inputs: {},
    output: null,
    summary: {},
    ...more,
  })
  const run = call('evaluate', {})
  const trials = scores.map((each, n) =>
    call('predict_and_score', {
      parent_id: run.id,
      inputs: { example: { n } },
      output: { output: n, scores: each },
    }),
  )
  await post(url, `/v2/${project}/calls/complete`, { batch: [run, ...trials] })
  return run.id
}

test('scores of any name and type are listed and compared as what they are', async ({
  page,
  project,
  server,
}) => {
  const truths = await evaluate(server.url, project, [
    { good: true, '': 1, 'a.b': 1, a: { b: 10 }, large: 1e22 },
    { good: true, '': 3, 'a.b': 2, a: { b: 20 }, large: 3e22 },
  ])
  const numbers = await evaluate(server.url, project, [
    { good: 0.5, '': 1, 'a.b': 3, a: { b: 30 }, large: 1e22 },
    { good: 2.5, '': 4, 'a.b': 4, a: { b: 40 }, large: 3e22 },
  ])
  await page.goto(`/${project}/evaluations`)
  const list = page.getByRole('grid', { name: 'Evaluations' })
  await expect(list.getByRole('row')).toHaveCount(3)
  for (const name of ['good', '(no name)', 'a\\.b', 'a.b'])
    await expect(list.getByRole('columnheader', { name, exact: true })).toBeVisible()

  await page.goto(`/${project}/compare?runs=${encodeURIComponent(JSON.stringify([truths, numbers]))}`)
  const summary = page.getByRole('region', { name: 'Summary' })
  const row = (name: RegExp) => summary.getByRole('row', { name })
  // Truths beside numbers are numbers.
  await expect(row(/^good/)).toContainText(/1of 2.*1\.5of 2.*better \+0\.5/)
  await expect(row(/^a\.b/)).toContainText(/1\.5of 2.*3\.5of 2/)
  await expect(row(/^a ?b/)).toContainText(/15of 2.*35of 2/)
  await expect(row(/^large/)).toContainText('2.00e22')
  const rows = page.getByRole('grid', { name: 'Rows' })
  await expect(rows.getByRole('row')).toHaveCount(3)
  await expect(rows.getByRole('row').nth(1)).toContainText('1.00e22')
  expect(await seriousViolations(page)).toEqual([])
})
