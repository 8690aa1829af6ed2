import { expect, it } from 'vitest'
import { stringify } from '../../json/lossless-json.ts'
import { summarizeRows } from './summarize-rows.ts'

/** The numbers are those of PyPI weave 0.54. */
it('a score of null counts in no share, and a row without a score does', () => {
  const rows = [{ scores: { ok: true } }, { scores: { ok: null } }]
  const summary = (some: readonly unknown[]): string => stringify(summarizeRows(some, [{ name: 'ok' }]))
  expect(summary(rows)).toBe('{"ok":{"true_count":1,"true_fraction":1.0}}')
  expect(summary([...rows, { scores: {} }, null])).toBe(
    '{"ok":{"true_count":1,"true_fraction":0.3333333333333333}}',
  )
})
