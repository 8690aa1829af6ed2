/** The tables: what was measured, the ratios, and the goals that they are read against. */

/** How many times the rate of another server Heddle's has to be, from the first call sent until all can be found. */
const RATE_GOALS = {
  'calls/complete': { ClickHouse: 3, SQLite: 1 },
  'call/upsert_batch': { SQLite: 10 },
  OTLP: { Phoenix: 30, MLflow: 4 },
}

/** How many times as fast as ClickHouse every read has to be. */
const READ_GOAL = 1.5

/** How many times as long a question may take with ten times the calls. */
const GROWTH_GOALS = {
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

const whole = (number) => number.toFixed(0)
const tenth = (number) => number.toFixed(1)
const times = (number) => `${number.toFixed(2)}x`
const MIB = 2 ** 20

/** A line of goals: `met` says of the measured ratio whether it is good enough. */
const judged = (ratio, goal, met) => [ratio, goal, met ? 'met' : 'MISSED']

/** @param cells what each server did by each way in: `{ server, way, taken, ms }` */
export function comparison(cells, servers) {
  const rows = []
  const ways = [...new Set(cells.map(({ way }) => way))]
  const cellOf = (way, server) => cells.find((cell) => cell.way === way && cell.server === server)
  for (const way of ways) {
    const rate = (server) => cellOf(way, server)?.taken.visiblePerSecond
    const goals = Object.entries(RATE_GOALS[way]).flatMap(([server, goal]) => {
      const ratio = rate('Heddle') / rate(server)
      return ratio > 0 ? [judged(`${times(ratio)} ${server}`, `at least ${goal}x`, ratio >= goal)] : []
    })
    const acknowledged = (server) => cellOf(way, server)?.taken.acknowledgedPerSecond
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
function pushRead(rows, measure, servers, msOf) {
  if (msOf('Heddle') === undefined) return
  const ratio = msOf('ClickHouse') / msOf('Heddle')
  const goal =
    ratio > 0 ? [judged(`${times(ratio)} ClickHouse`, `at least ${READ_GOAL}x`, ratio >= READ_GOAL)] : []
  pushRows(rows, measure, servers, msOf, tenth, goal)
}

function pushRows(rows, measure, servers, numberOf, format, goals) {
  const values = servers.map((server) => {
    const value = numberOf(server)
    return value === undefined ? '' : format(value)
  })
  rows.push([measure, ...values, ...(goals[0] ?? ['', '', ''])])
  for (const goal of goals.slice(1)) rows.push(['', ...servers.map(() => ''), ...goal])
}

/** What Heddle's cells say by themselves: promises that no ratio shows. */
export function promises(cells) {
  const rows = []
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

function costRows(what, { idleShare, diskBytes, sentBytes }) {
  const disk = `${whole(diskBytes / MIB)} of ${whole(sentBytes / MIB)} MiB, ${times(diskBytes / sentBytes)}`
  const idle = idleShare === undefined ? [] : [idleRow(what, idleShare)]
  return [...idle, [`${what}: disk, of the bytes sent`, disk, '', '']]
}

function idleRow(what, share) {
  const goal = `under ${100 * IDLE_GOAL} % of a core`
  return [`${what}: idle`, ...judged(`${(100 * share).toFixed(2)} %`, goal, share < IDLE_GOAL)]
}

/** How the times grow from one size to the next. */
export function growth([small, large]) {
  if (large === undefined) return { head: [], rows: [] }
  const grown = (measure, name, [smallMs, largeMs]) => {
    const ratio = largeMs / smallMs
    const goal = GROWTH_GOALS[name]
    const verdict =
      goal === undefined ? [times(ratio), '', ''] : judged(times(ratio), `at most ${goal}x`, ratio <= goal)
    return [measure, tenth(smallMs), tenth(largeMs), ...verdict]
  }
  const rows = Object.keys(large.ms).flatMap((name) => [
    grown(`${name}, ms`, name, [small.ms[name], large.ms[name]]),
    grown('  each time another, ms', name, [small.otherMs[name], large.otherMs[name]]),
  ])
  return { head: ['Heddle', `${small.calls} calls`, `${large.calls} calls`, 'ratio', 'goal', ''], rows }
}

/** What was measured of Heddle alone. */
export function alone(sizes, longTraces) {
  const rows = sizes.flatMap(({ calls, taken, importPeakMib, readPeakMib, ...cost }) => [
    [`${calls} calls: calls/s`, whole(taken.visiblePerSecond), '', ''],
    ...(importPeakMib === undefined
      ? []
      : [
          [`${calls} calls: most memory of the import, MiB`, whole(importPeakMib), '', ''],
          [`${calls} calls: most memory of the questions, MiB`, whole(readPeakMib), '', ''],
        ]),
    ...costRows(`${calls} calls`, cost),
  ])
  for (const { calls, bytes, heddleMs, otherMs, bareMs } of longTraces) {
    const streamed = (what, ms) => {
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
export function tableText({ head, rows }) {
  const widths = head.map((_title, index) => Math.max(...[head, ...rows].map((row) => row[index].length)))
  const lineOf = (row) =>
    row
      .map((text, index) => (index === 0 ? text.padEnd(widths[index]) : text.padStart(widths[index])))
      .join('  ')
      .trimEnd()
  return [head, ...rows].map(lineOf).join('\n')
}
