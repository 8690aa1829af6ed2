/**
 * The pages, as a browser sees them. The list of traces of Heddle with 100,000 calls, beside those of Phoenix and
 * MLflow with what they take in reasonable time: first content, and a click that is answered. Then Heddle alone:
 * scrolling, keys, memory, and a trace of 30,000 calls. An empty page is measured beside all of it, and everything
 * takes turns.
 */
import { parseArgs } from 'node:util'
import { type Browser, chromium } from '@playwright/test'
import { chromiumPath } from '../scripts/chromium.ts'
import { namesIn } from './names-in.ts'
import { writeResults } from './results-file.ts'
import { median } from './statistics.ts'
import { alone, type FilledServer, filledServer } from './ui/filled-server.ts'
import type { Frames } from './ui/frames.ts'
import { idleFrames, largeTrace, measureKeys, measureList, measureMemory, measureTrace } from './ui/heddle.ts'
import { IDLE, type IdlePage, serveIdlePage } from './ui/idle-page.ts'
import { type LoadTarget, measureLoad, type Seen, visitOnce } from './ui/load.ts'
import { PAGES } from './ui/pages.ts'

const SERVERS = ['Heddle', 'Phoenix', 'MLflow'] as const

/** The page that everything is measured beside, and how often. */
interface Setting {
  idle: IdlePage
  rounds: number
}

/** How a list of traces loads; medians in milliseconds, and every load. */
interface ListTimes {
  name: string
  /** Undefined of the empty page. */
  calls: number | undefined
  fillSeconds: number | undefined
  firstContentMs: number
  interactiveMs: number
  loads: Required<Seen>[]
}

/** What is measured of Heddle alone, by round. */
interface HeddleTimes {
  idle: Frames[]
  wheeled: Frames[]
  dragged: Frames[]
  keysMs: number[]
  traces: { rowsMs: number; usableMs: number }[]
  memory: Awaited<ReturnType<typeof measureMemory>>
  traceCalls: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      calls: { type: 'string', default: '100000' },
      'peer-calls': { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string', default: SERVERS.join(',') },
      json: { type: 'string' },
    },
  })
  const rounds = Number(values.rounds)
  const names = namesIn('only', values.only, SERVERS)
  // The scroll bar is there to be dragged.
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox'],
    ignoreDefaultArgs: ['--hide-scrollbars'],
  })
  const idle = await serveIdlePage()
  const filled: FilledServer[] = []
  try {
    for (const name of names)
      filled.push(await filledServer(name, Number(name === 'Heddle' ? values.calls : values['peer-calls'])))
    const lists = await measureLists(browser, filled, { idle, rounds })
    const heddle = filled.find(({ name }) => name === 'Heddle')
    const own =
      heddle && (await alone(heddle.server, filled, () => measureHeddle(browser, heddle, { idle, rounds })))
    const results = { browser: browser.version(), rounds, lists, heddle: own }
    show(results)
    writeResults(values.json, results)
  } finally {
    idle.close()
    await browser.close()
    for (const { server } of filled) await server.stop()
  }
}

/** First content and the first answer of each list, in turns. */
async function measureLists(
  browser: Browser,
  filled: readonly FilledServer[],
  { idle, rounds }: Setting,
): Promise<ListTimes[]> {
  const targets: { name: string; one?: FilledServer; target: LoadTarget; loads: Required<Seen>[] }[] = [
    { name: 'an empty page', target: { ...IDLE, url: idle.url }, loads: [] },
  ]
  for (const one of filled) {
    const { path, ...page } = PAGES[one.name]
    const url = one.server.url + (await path(one))
    const storage = await visitOnce(browser, url, page)
    targets.push({ name: one.name, one, target: { ...page, url, words: one.words, storage }, loads: [] })
  }
  for (let round = 0; round < rounds; round++)
    for (const { one, target, loads } of targets)
      loads.push(await alone(one?.server, filled, () => measureLoad(browser, target)))
  return targets.map(({ name, one, loads }) => ({
    name,
    calls: one?.calls,
    fillSeconds: one?.fillSeconds,
    firstContentMs: median(loads.map(({ row }) => row)),
    interactiveMs: median(loads.map(({ details }) => details)),
    loads,
  }))
}

async function measureHeddle(
  browser: Browser,
  heddle: FilledServer,
  { idle, rounds }: Setting,
): Promise<HeddleTimes> {
  const trace = await largeTrace(heddle)
  const taken: Omit<HeddleTimes, 'memory' | 'traceCalls'> = {
    idle: [],
    wheeled: [],
    dragged: [],
    keysMs: [],
    traces: [],
  }
  for (let round = 0; round < rounds; round++) {
    taken.idle.push(await idleFrames(browser, idle.url))
    const { wheeled, dragged } = await measureList(browser, heddle)
    taken.wheeled.push(wheeled)
    taken.dragged.push(dragged)
    taken.keysMs.push(...(await measureKeys(browser, heddle)))
    taken.traces.push(await measureTrace(browser, trace.url))
  }
  return { ...taken, memory: await measureMemory(browser, heddle), traceCalls: trace.count }
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const ms = (number: number): string => `${number.toFixed(0).padStart(6)} ms`

function show({
  lists,
  heddle,
  rounds,
}: {
  lists: readonly ListTimes[]
  heddle: HeddleTimes | undefined
  rounds: number
}): void {
  print(`\nThe list of traces, cold, median of ${rounds}   first content   a click is answered`)
  for (const { name, calls, fillSeconds, firstContentMs, interactiveMs } of lists) {
    const of = calls === undefined ? name : `${name}, ${calls} calls (sent in ${fillSeconds?.toFixed(0)} s)`
    print(`${of.padEnd(44)} ${ms(firstContentMs)}       ${ms(interactiveMs)}`)
  }
  if (heddle === undefined) return
  showFrames(heddle, rounds)
  const { before, after, last } = heddle.memory
  print(
    `\nj and k to painted details: median ${ms(median(heddle.keysMs)).trim()}, longest ${ms(Math.max(...heddle.keysMs)).trim()} of ${heddle.keysMs.length}`,
  )
  print(
    `All rows gone through, to row ${last + 1}: heap ${before.heapMb.toFixed(1)} MB before and ${after.heapMb.toFixed(1)} MB after, nodes ${before.nodes} and ${after.nodes}, elements ${before.elements} and ${after.elements}`,
  )
  print(
    `A trace of ${heddle.traceCalls} calls: rows after ${ms(median(heddle.traces.map(({ rowsMs }) => rowsMs))).trim()}, a click answered after ${ms(median(heddle.traces.map(({ usableMs }) => usableMs))).trim()}`,
  )
}

/** Frames that people notice are listed one by one: the work of the page in them, and its wait for a processor. */
function showFrames(heddle: HeddleTimes, rounds: number): void {
  print(`\nHeddle's frames, ${rounds} runs together`)
  print(`${''.padEnd(40)} frames   p95 (median)    longest   over 50 ms   most own work   over 50 ms by it`)
  const acts: [name: string, runs: Frames[]][] = [
    ['an empty page', heddle.idle],
    ['60 turns of the wheel, 400 px each', heddle.wheeled],
    ['the scroll bar dragged to the end', heddle.dragged],
  ]
  for (const [name, runs] of acts) {
    const sum = (of: (run: Frames) => number): string =>
      String(runs.reduce((total, run) => total + of(run), 0))
    const most = (of: (run: Frames) => number): number => Math.max(...runs.map(of))
    const slow = runs.flatMap((run) => run.slow)
    print(
      `${name.padEnd(40)} ${sum(({ frames }) => frames).padStart(6)}      ${ms(median(runs.map(({ p95 }) => p95)))}  ${ms(most(({ max }) => max))}   ${String(slow.length).padStart(10)}       ${ms(most(({ ownMsMax }) => ownMsMax))}   ${sum(({ slowByOwnWork }) => slowByOwnWork).padStart(16)}`,
    )
    for (const frame of slow)
      print(
        `  one of ${ms(frame.ms).trim()}: the page worked ${ms(frame.ownMs).trim()}, ${ms(frame.drawingMs).trim()} of them on style, layout and paint`,
      )
  }
}

await main()
