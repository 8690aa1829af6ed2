/** The tables: what was measured, the ratios, and the goals that they are read against. */

import type { Costs, LongTrace, Size } from './heddle-alone.ts'
import type { Imported, Times } from './measure.ts'
import type { ServerName } from './servers.ts'

export type Way = 'calls/complete' | 'call/upsert_batch' | 'OTLP'

/** What a server did by one way in. */
export interface MeasuredCell extends Times {
  way: Way
  server: ServerName
  taken: Imported
  /** Undefined where it was not measured. */
  cost: Costs | undefined
  /** The calls that were there after a kill; undefined where none was made. */
  kept: number | undefined
}

export interface Table {
  head: string[]
  rows: string[][]
}

/** What one run cannot tell from the same speed. */
const NO_SLOWER = 0.95

/** How many times the rate of another server Heddle's has to be, from the first call sent until all can be found. */
const RATE_GOALS: Record<Way, Partial<Record<ServerName, number>>> = {
  'calls/complete': { Before: NO_SLOWER, ClickHouse: 3, SQLite: 1 },
  'call/upsert_batch': { Before: NO_SLOWER, SQLite: 10 },
  OTLP: { Before: NO_SLOWER, Phoenix: 30, MLflow: 4 },
}

/** How many times as fast as another server every read has to be. */
const READ_GOALS: Partial<Record<ServerName, number>> = { Before: NO_SLOWER, ClickHouse: 1.5 }

/** How many times as long a question may take with ten times the calls. */
const GROWTH_GOALS: Readonly<Record<string, number>> = {
  'newest 50': 1.5,
  'one trace': 1.5,
  'read by id': 1.5,
  'JSON filter': 12,
  'text search': 12,
  'sort by a payload field': 12,
  'count with a filter': 12,
}

/** How many times the time of its bytes alone a long trace may take. */
const STREAM_GOAL = 4

/** The share of a core that an idle server may take. */
const IDLE_GOAL = 0.01

const whole = (number: number): string => number.toFixed(0)
const tenth = (number: number): string => number.toFixed(1)
const times = (number: number): string => `${number.toFixed(2)}x`
const MIB = 2 ** 20

/** A line of goals: `met` says of the measured ratio whether it is good enough. */
const judged = (ratio: string, goal: string, met: boolean): string[] => [ratio, goal, met ? 'met' : 'MISSED']

/** What each server did by each way in, beside the others. */
export function comparison(cells: readonly MeasuredCell[], servers: readonly ServerName[]): Table {
  const rows: string[][] = []
  const ways = [...new Set(cells.map(({ way }) => way))]
  const cellOf = (way: Way, server: ServerName): MeasuredCell | undefined =>
    cells.find((cell) => cell.way === way && cell.server === server)
  for (const way of ways) {
    const rate = (server: ServerName): number | undefined => cellOf(way, server)?.taken.visiblePerSecond
    const goals = servers.flatMap((server) => {
      const goal = RATE_GOALS[way][server]
      const ratio = ratioOf(rate('Heddle'), rate(server))
      return goal !== undefined && ratio > 0
        ? [judged(`${times(ratio)} ${server}`, `at least ${goal}x`, ratio >= goal)]
        : []
    })
    const acknowledged = (server: ServerName): number | undefined =>
      cellOf(way, server)?.taken.acknowledgedPerSecond
    pushRows(rows, `${way}: calls/s until visible`, servers, rate, whole, goals)
    pushRows(rows, `${way}: calls/s acknowledged`, servers, acknowledged, whole, [])
    const questions = [
      ...new Set(cells.filter((cell) => cell.way === way).flatMap(({ ms }) => Object.keys(ms))),
    ]
    for (const name of questions) {
      pushRead(rows, `${way}: ${name}, ms`, servers, (server) => cellOf(way, server)?.ms[name])
      pushRead(rows, '  each time another, ms', servers, (server) => cellOf(way, server)?.otherMs[name])
    }
  }
  return { head: ['', ...servers, 'ratio', 'goal', ''], rows }
}

/** Times of a question, if it was asked. */
function pushRead(
  rows: string[][],
  measure: string,
  servers: readonly ServerName[],
  msOf: (server: ServerName) => number | undefined,
): void {
  if (msOf('Heddle') === undefined) return
  const goals = servers.flatMap((server) => {
    const goal = READ_GOALS[server]
    const ratio = ratioOf(msOf(server), msOf('Heddle'))
    return goal !== undefined && ratio > 0
      ? [judged(`${times(ratio)} ${server}`, `at least ${goal}x`, ratio >= goal)]
      : []
  })
  pushRows(rows, measure, servers, msOf, tenth, goals)
}

/** NaN, which no goal is compared with, where one of them was not measured. */
function ratioOf(one: number | undefined, other: number | undefined): number {
  return one === undefined || other === undefined ? Number.NaN : one / other
}

function pushRows(
  rows: string[][],
  measure: string,
  servers: readonly ServerName[],
  numberOf: (server: ServerName) => number | undefined,
  format: (number: number) => string,
  goals: string[][],
): void {
  const values = servers.map((server) => {
    const value = numberOf(server)
    return value === undefined ? '' : format(value)
  })
  rows.push([measure, ...values, ...(goals[0] ?? ['', '', ''])])
  for (const goal of goals.slice(1)) rows.push(['', ...servers.map(() => ''), ...goal])
}

/** What Heddle's cells say by themselves: promises that no ratio shows. */
export function promises(cells: readonly MeasuredCell[]): Table {
  const rows: string[][] = []
  for (const { way, taken, kept, cost } of cells.filter(({ server }) => server === 'Heddle')) {
    const { calls, readableAtOnce } = taken
    rows.push([
      `${way}: readable at once`,
      ...judged(readableAtOnce ? 'all' : 'not all', 'all', readableAtOnce),
    ])
    if (kept !== undefined)
      rows.push([`${way}: kept after a kill`, ...judged(`${kept} of ${calls}`, 'all', kept === calls)])
    if (cost !== undefined) rows.push(...costRows(`${calls} calls`, cost))
  }
  return { head: ['Heddle', 'measured', 'goal', ''], rows }
}

function costRows(what: string, { idleShare, diskBytes, sentBytes }: Costs): string[][] {
  const disk = `${whole(diskBytes / MIB)} of ${whole(sentBytes / MIB)} MiB, ${times(diskBytes / sentBytes)}`
  const idle = idleShare === undefined ? [] : [idleRow(what, idleShare)]
  return [...idle, [`${what}: disk, of the bytes sent`, disk, '', '']]
}

function idleRow(what: string, share: number): string[] {
  const goal = `under ${100 * IDLE_GOAL} % of a core`
  return [`${what}: idle`, ...judged(`${(100 * share).toFixed(2)} %`, goal, share < IDLE_GOAL)]
}

/** How the times grow from one size to the next. */
export function growth([small, large]: readonly Size[]): Table {
  if (small === undefined || large === undefined) return { head: [], rows: [] }
  const grown = (measure: string, name: string, of: 'ms' | 'otherMs'): string[] => {
    const [smallMs = Number.NaN, largeMs = Number.NaN] = [small[of][name], large[of][name]]
    const ratio = largeMs / smallMs
    const goal = GROWTH_GOALS[name]
    const verdict =
      goal === undefined ? [times(ratio), '', ''] : judged(times(ratio), `at most ${goal}x`, ratio <= goal)
    return [measure, tenth(smallMs), tenth(largeMs), ...verdict]
  }
  const rows = Object.keys(large.ms).flatMap((name) => [
    grown(`${name}, ms`, name, 'ms'),
    grown('  each time another, ms', name, 'otherMs'),
  ])
  return { head: ['Heddle', `${small.calls} calls`, `${large.calls} calls`, 'ratio', 'goal', ''], rows }
}

/** What was measured of Heddle alone. */
export function alone(sizes: readonly Size[], longTraces: readonly LongTrace[]): Table {
  const rows = sizes.flatMap(({ calls, taken, importPeakMib, readPeakMib, ...cost }) => [
    [`${calls} calls: calls/s`, whole(taken.visiblePerSecond), '', ''],
    [`${calls} calls: most memory of the import, MiB`, whole(importPeakMib), '', ''],
    [`${calls} calls: most memory of the questions, MiB`, whole(readPeakMib), '', ''],
    ...costRows(`${calls} calls`, cost),
  ])
  for (const { calls, bytes, heddleMs, otherMs, bareMs } of longTraces) {
    const streamed = (what: string, ms: number): string[] => {
      const ratio = ms / bareMs
      const measured = `${tenth(ms)} / ${tenth(bareMs)} ms, ${times(ratio)}`
      return [what, ...judged(measured, `under ${STREAM_GOAL}x`, ratio < STREAM_GOAL)]
    }
    rows.push(
      streamed(`a trace of ${calls} calls, ${whole(bytes / MIB)} MiB: streamed / bytes alone`, heddleMs),
      streamed('  each time another', otherMs),
    )
  }
  return { head: ['Heddle', 'measured', 'goal', ''], rows }
}

/** A table as text: the first column to the left, the others to the right. */
export function tableText({ head, rows }: Table): string {
  const widths = head.map((_title, index) =>
    Math.max(...[head, ...rows].map((row) => row[index]?.length ?? 0)),
  )
  const lineOf = (row: readonly string[]): string =>
    row
      .map((text, index) => {
        const width = widths[index] ?? 0
        return index === 0 ? text.padEnd(width) : text.padStart(width)
      })
      .join('  ')
      .trimEnd()
  return [head, ...rows].map(lineOf).join('\n')
}
