import { expect, it } from 'vitest'
import { axesOf, chosenAxes, rowValue, tally } from './axes.ts'

const LENGTH = {
  id: 'length',
  field: 'scores.length',
  scorer: 'length',
  path: '',
  isShare: false,
  isLessBetter: false,
}
const METRICS = [LENGTH]

it('names the numbers of each run by its letter', () => {
  const axes = axesOf(['r1', 'r2'], METRICS)
  expect(axes.map(({ key }) => key)).toEqual(['A length', 'B length', 'A latency', 'B latency'])
  expect(chosenAxes(axes, { x: '', y: '' })?.map(({ key }) => key)).toEqual(['A length', 'B length'])
  expect(chosenAxes(axes, { x: 'B latency', y: 'gone' })?.map(({ key }) => key)).toEqual([
    'B latency',
    'B length',
  ])
  expect(chosenAxes(axesOf(['r1'], []), { x: '', y: '' })).toBeUndefined()
})

it('finds the value of a row, which it may lack', () => {
  const trials = [{ scores: new Map([['length', 3]]), isError: false }]
  const cell = { output: '', error: '', trials, latencyMs: null }
  const row = { digest: 'd', input: '', runs: new Map([['r1', cell]]) }
  expect(rowValue(row, { run: 'r1', measure: LENGTH })).toBe(3)
  expect(rowValue(row, { run: 'r1', measure: 'latency' })).toBeUndefined()
  expect(rowValue(row, { run: 'r2', measure: LENGTH })).toBeUndefined()
})

it('counts what is better, in the direction of the metric', () => {
  const points = [
    { x: 1, y: 2 },
    { x: 1, y: 1 },
    { x: 3, y: 2 },
    { x: 0, y: 2 },
  ]
  expect(tally(points, LENGTH)).toEqual({ better: 2, worse: 1, same: 1 })
  expect(tally(points, 'latency')).toEqual({ better: 1, worse: 2, same: 1 })
})
