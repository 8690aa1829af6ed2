import { expect, it } from 'vitest'
import type { Call } from '../../api/calls.ts'
import { columnsOf, rankedBy, standingsOf } from './standings.ts'

const BOARD = {
  columns: [
    { evaluation_object_ref: 'weave:///l/p/object/e:1', scorer_name: 'Exact', summary_metric_path: 'mean' },
    {
      evaluation_object_ref: 'weave:///l/p/object/e:1',
      scorer_name: 'Near',
      summary_metric_path: 'distance.mean',
      should_minimize: true,
    },
  ],
}

function evaluated(id: string, model: string, exact: number, distance?: number): Call {
  const inputs = { self: 'weave:///l/p/object/e:1', model }
  const near = distance === undefined ? {} : { Near: { distance: { mean: distance } } }
  return { id, inputs, output: { Exact: { mean: exact }, ...near } } as unknown as Call
}

const CALLS = [
  evaluated('new', 'a', 0.5, 3),
  evaluated('b', 'b', 0.7, 4),
  evaluated('c', 'c', 0.1),
  evaluated('old', 'a', 0.9, 1),
  { id: 'running', inputs: { self: 'weave:///l/p/object/e:1', model: 'd' }, output: null } as unknown as Call,
  { ...evaluated('other', 'e', 1, 1), inputs: { self: 'weave:///l/p/object/e:2', model: 'e' } },
]

it('models are ranked by their newest evaluation, whichever way is better', () => {
  const columns = columnsOf(BOARD)
  const standings = standingsOf(columns, CALLS)
  const order = (by: number, worst: boolean) =>
    rankedBy(standings, { by, worst }, columns).map(({ model }) => model)
  expect(order(0, false)).toEqual(['b', 'a', 'c'])
  expect(order(0, true)).toEqual(['c', 'a', 'b'])
  expect(order(1, false)).toEqual(['a', 'b', 'c'])
  expect(order(1, true)).toEqual(['b', 'a', 'c'])
  expect(standings[0]?.scores).toEqual([
    { value: 0.5, call: 'new' },
    { value: 3, call: 'new' },
  ])
})

it('what is no leaderboard has no columns', () => {
  expect(columnsOf({ columns: 'none' })).toEqual([])
  expect(columnsOf(null)).toEqual([])
})
