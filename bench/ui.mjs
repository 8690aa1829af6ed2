/**
 * The pages, as a browser sees them. The list of traces of Heddle with 100,000 calls, beside those of Phoenix and MLflow
 * with what they take in reasonable time: first content, and a click that is answered. Then Heddle alone: scrolling, keys,
 * memory, and a trace of 30,000 calls. An empty page is measured beside all of it, and everything takes turns.
 */
import { parseArgs } from 'node:util'
import { chromium } from '@playwright/test'
import { chromiumPath } from '../scripts/chromium.ts'
import { median } from './load.mjs'
import { writeResults } from './results-file.mjs'
import { alone, filledServer } from './ui/filled-server.mjs'
import {
  idleFrames,
  largeTrace,
  measureKeys,
  measureList,
  measureMemory,
  measureTrace,
} from './ui/heddle.mjs'
import { IDLE, serveIdlePage } from './ui/idle-page.mjs'
import { measureLoad, visitOnce } from './ui/load.mjs'
import { PAGES } from './ui/pages.mjs'

const SERVERS = Object.keys(PAGES)

async function main() {
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
  const names = namesIn(values.only)
  // The scroll bar is there to be dragged.
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox'],
    ignoreDefaultArgs: ['--hide-scrollbars'],
  })
  const idle = await serveIdlePage()
  const filled = []
  try {
    for (const name of names)
      filled.push(await filledServer(name, Number(name === 'Heddle' ? values.calls : values['peer-calls'])))
    const lists = await measureLists(browser, filled, { idle, rounds })
    const heddle = filled.find(({ name }) => name === 'Heddle')
    const own =
      heddle && (await alone(heddle, filled, () => measureHeddle(browser, heddle, { idle, rounds })))
    const results = { browser: browser.version(), rounds, lists, heddle: own }
    show(results)
    writeResults(values.json, results)
  } finally {
    idle.close()
    await browser.close()
    for (const { server } of filled) await server.stop()
  }
}

function namesIn(only) {
  const names = only.toLowerCase().split(',')
  const unknown = names.filter((name) => !SERVERS.some((server) => server.toLowerCase() === name))
  if (unknown.length > 0) throw new Error(`--only takes ${SERVERS.join(', ')}; not ${unknown.join(', ')}`)
  return SERVERS.filter((server) => names.includes(server.toLowerCase()))
}

/** First content and the first answer of each list, in turns. */
async function measureLists(browser, filled, { idle, rounds }) {
  const targets = [{ name: 'an empty page', target: { ...IDLE, url: idle.url } }]
  for (const one of filled) {
    const { path, ...page } = PAGES[one.name]
    const url = one.server.url + (await path(one))
    const storage = await visitOnce(browser, url, page)
    targets.push({ name: one.name, one, target: { ...page, url, words: one.words, storage } })
  }
  const loads = targets.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [at, { one, target }] of targets.entries())
      loads[at].push(await alone(one ?? { server: undefined }, filled, () => measureLoad(browser, target)))
  return targets.map(({ name, one }, at) => ({
    name,
    calls: one?.calls,
    fillSeconds: one?.fillSeconds,
    firstContentMs: median(loads[at].map(({ row }) => row)),
    interactiveMs: median(loads[at].map(({ details }) => details)),
    loads: loads[at],
  }))
}

async function measureHeddle(browser, heddle, { idle, rounds }) {
  const trace = await largeTrace(heddle)
  const taken = { idle: [], wheeled: [], dragged: [], keysMs: [], traces: [] }
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

function show({ lists, heddle, rounds }) {
  const print = (line) => process.stdout.write(`${line}\n`)
  const ms = (number) => `${number.toFixed(0).padStart(6)} ms`
  print(`\nThe list of traces, cold, median of ${rounds}   first content   a click is answered`)
  for (const { name, calls, fillSeconds, firstContentMs, interactiveMs } of lists) {
    const of = calls === undefined ? name : `${name}, ${calls} calls (sent in ${fillSeconds.toFixed(0)} s)`
    print(`${of.padEnd(44)} ${ms(firstContentMs)}       ${ms(interactiveMs)}`)
  }
  if (heddle === undefined) return
  showFrames(heddle, { rounds, print, ms })
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
function showFrames(heddle, { rounds, print, ms }) {
  print(`\nHeddle's frames, ${rounds} runs together`)
  print(`${''.padEnd(40)} frames   p95 (median)    longest   over 50 ms   most own work   over 50 ms by it`)
  for (const [name, runs] of [
    ['an empty page', heddle.idle],
    ['60 turns of the wheel, 400 px each', heddle.wheeled],
    ['the scroll bar dragged to the end', heddle.dragged],
  ]) {
    const sum = (of) => String(runs.reduce((total, run) => total + of(run), 0))
    const most = (of) => Math.max(...runs.map(of))
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
