/**
 * The times between the pieces of streamed answers: 64 streams at once of vLLM alone and of Heddle in front of it, with
 * nothing beside them and while calls come in to Heddle, in turns on one server.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { startChild } from './child.ts'
import { type ChatTarget, openChatTarget, question } from './load.ts'
import { writeResults } from './results-file.ts'
import { median, percentile, spread } from './statistics.ts'
import type { WritingTask } from './streams/writing.ts'
import { BATCH_CALLS, type Written } from './traces/steady-writers.ts'

const BASE_MODEL = 'heddle/loom-tiny'
const PROJECT = 'bench/streams'
const STREAMS = 64
const ANSWER_TOKENS = 32
const WARM_UP_SECONDS = 5

const SIDES = ['vLLM', 'Heddle'] as const
type Side = (typeof SIDES)[number]

/** What one side did in one round. */
interface Measured {
  side: Side
  /** Calls a second that came in meanwhile. */
  rate: number
  perSecond: number
  firstMs: number
  gapP50Ms: number
  gapP99Ms: number
  /** Of the writes beside it; none where nothing came in. */
  writes: { perSecond: number; p95Ms: number; failed: number } | undefined
}

const Given = z.object({
  'base-url': z.string(),
  'api-key': z.string(),
  'engine-url': z.string(),
  'engine-key': z.string(),
  rounds: z.coerce.number(),
  seconds: z.coerce.number(),
  rate: z.coerce.number(),
  json: z.string().optional(),
})

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    'api-key': { type: 'string' },
    'engine-url': { type: 'string' },
    'engine-key': { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '15' },
    rate: { type: 'string', default: '1000' },
    json: { type: 'string' },
  },
})

async function main(): Promise<void> {
  const given = Given.parse(values)
  const targets: Record<Side, ChatTarget> = {
    vLLM: openChatTarget(given['engine-url'], given['engine-key']),
    Heddle: openChatTarget(given['base-url'], given['api-key']),
  }
  const child = startChild<WritingTask, Written>(new URL('./streams/writing.ts', import.meta.url))
  const task = { url: given['base-url'], project: PROJECT, rate: given.rate }
  const measured: Measured[] = []
  for (const side of SIDES) await streamFor(targets[side], WARM_UP_SECONDS)
  for (let round = 0; round < given.rounds; round++) {
    for (const rate of [0, given.rate]) {
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const { seconds } = given
        const [streams, written] = await Promise.all([
          streamFor(targets[side], seconds),
          rate > 0 ? child.tell({ ...task, seconds }) : undefined,
        ])
        const writes = written && {
          perSecond: (written.tookMs.length * BATCH_CALLS) / seconds,
          p95Ms: percentile(written.tookMs, 95),
          failed: written.failed,
        }
        measured.push({ side, rate, ...streams, writes })
      }
    }
    process.stdout.write(`round ${round + 1} of ${given.rounds}\n`)
  }
  child.kill()
  await Promise.all(SIDES.map((side) => targets[side].close()))
  show(measured)
  writeResults(given.json, { measured })
}

/** Keeps the streams under way for so long; those under way at the end are awaited and count. */
async function streamFor(
  target: ChatTarget,
  seconds: number,
): Promise<Pick<Measured, 'perSecond' | 'firstMs' | 'gapP50Ms' | 'gapP99Ms'>> {
  const started = performance.now()
  const firsts: number[] = []
  const gaps: number[] = []
  async function work(): Promise<void> {
    while (performance.now() - started < seconds * 1000) {
      const pieces = await target.ask(question({ model: BASE_MODEL, stream: true, tokens: ANSWER_TOKENS }))
      firsts.push(pieces[0] ?? Number.NaN)
      for (let at = 1; at < pieces.length; at++) gaps.push((pieces[at] ?? 0) - (pieces[at - 1] ?? 0))
    }
  }
  await Promise.all(Array.from({ length: STREAMS }, work))
  return {
    perSecond: (1000 * firsts.length) / (performance.now() - started),
    firstMs: median(firsts),
    gapP50Ms: percentile(gaps, 50),
    gapP99Ms: percentile(gaps, 99),
  }
}

/** Medians over the rounds, with the lowest and the highest. */
function show(measured: readonly Measured[]): void {
  for (const rate of new Set(measured.map((one) => one.rate))) {
    const title = rate > 0 ? `${rate} calls a second come in` : 'nothing beside them'
    process.stdout.write(`\n${title.padEnd(30)}${SIDES.map((side) => side.padEnd(28)).join('')}\n`)
    const row = (label: string, value: (one: Measured) => number | undefined): void => {
      const cells = SIDES.map((side) => {
        const taken = measured.filter((one) => one.side === side && one.rate === rate).map(value)
        const known = taken.filter((number) => number !== undefined)
        return spread(known, 1).padEnd(28)
      })
      process.stdout.write(`${label.padEnd(30)}${cells.join('')}\n`)
    }
    row('answers a second', (one) => one.perSecond)
    row('first piece, ms', (one) => one.firstMs)
    row('between pieces, p50, ms', (one) => one.gapP50Ms)
    row('between pieces, p99, ms', (one) => one.gapP99Ms)
    if (rate === 0) continue
    row('calls written a second', (one) => one.writes?.perSecond)
    row('writes, p95, ms', (one) => one.writes?.p95Ms)
    row('writes that failed', (one) => one.writes?.failed)
  }
}

await main()
