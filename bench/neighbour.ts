/**
 * The effect of one project's flood on another: small writes, reads and searches of a quiet project, alone and while
 * twelve clients of another send as many requests as they can, alternating on one server. With `--projects`, the flood
 * comes from several projects of one entity, and adds jobs as well. The floods run in a process of their own.
 */
import { parseArgs } from 'node:util'
import { startChild } from './child.ts'
import { namesIn } from './names-in.ts'
import type { FloodCounts, FloodKind, FloodTask } from './neighbour/flood.ts'
import { QUIET_KINDS, type QuietKind, type QuietTimes, quietLoad } from './neighbour/quiet.ts'
import { writeResults } from './results-file.ts'
import { percentile } from './statistics.ts'
import { startServer } from './traces/servers.ts'

/** Times of the quiet project alone and beside one flood, and what became of the flood. */
interface Round extends FloodCounts {
  kind: FloodKind
  alone: QuietTimes
  flooded: QuietTimes
}

interface Compared {
  aloneMs: number
  floodedMs: number
  ratio: number
  /** The lowest and the highest ratio of a round. */
  ratioOfRounds: number[]
}

interface Summary extends FloodCounts {
  kind: FloodKind
  of: Record<QuietKind, Compared>
  failed: number
}

/** What promise 5 allows (docs/ARCHITECTURE.md): how many times as long the slowest twentieth may take. */
const RATIO_MAX = 3

const FLOODERS = 12

/** Each kind of flood is a round of its own, so that none hides behind another. */
const FLOODS: readonly FloodKind[] = ['writes', 'reads', 'both']

/** The same of a tenant with several projects, and scores of its calls, which are jobs. */
const FLOODS_OF_TENANT: readonly FloodKind[] = [...FLOODS, 'jobs']

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '10' },
      projects: { type: 'string', default: '1' },
      floods: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const ms = Number(values.seconds) * 1000
  const possible = values.projects === '1' ? FLOODS : FLOODS_OF_TENANT
  const floods = namesIn('floods', values.floods ?? possible.join(), possible)
  const server = await startServer('Heddle')
  const program = new URL('./neighbour/flood.ts', import.meta.url)
  const flood = startChild<FloodTask, FloodCounts>(program, [server.url, values.projects])
  try {
    const quiet = await quietLoad(server.url)
    await flood.tell({ kind: 'fill' })
    await quiet.measure(ms / 2)
    const rounds: Round[] = []
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const kind of floods) {
        const alone = await quiet.measure(ms)
        await flood.tell({ kind, flooders: FLOODERS })
        const flooded = await quiet.measure(ms)
        const { done, refused } = await flood.tell({ kind: 'stop' })
        rounds.push({ kind, alone, flooded, done, refused })
        process.stdout.write(`\rround ${rounds.length} of ${floods.length * Number(values.rounds)}`)
      }
    }
    process.stdout.write('\n')
    const results = floods.map((kind) => summary(kind, rounds))
    show(results)
    writeResults(values.json, { results, rounds })
    await quiet.close()
    if (results.some(({ of }) => Object.values(of).some(({ ratio }) => ratio > RATIO_MAX)))
      process.exitCode = 1
  } finally {
    flood.kill()
    await server.stop()
  }
}

function summary(kind: FloodKind, rounds: readonly Round[]): Summary {
  const of = rounds.filter((round) => round.kind === kind)
  const compare = (what: QuietKind): Compared => {
    const all = (which: 'alone' | 'flooded'): number =>
      percentile(
        of.flatMap((round) => round[which][what]),
        95,
      )
    const ratios = of.map(({ alone, flooded }) => percentile(flooded[what], 95) / percentile(alone[what], 95))
    return {
      aloneMs: all('alone'),
      floodedMs: all('flooded'),
      ratio: all('flooded') / all('alone'),
      ratioOfRounds: [Math.min(...ratios), Math.max(...ratios)],
    }
  }
  const sum = (name: keyof FloodCounts): number => of.reduce((total, round) => total + round[name], 0)
  const failed = of.reduce((total, { alone, flooded }) => total + alone.failed + flooded.failed, 0)
  return {
    kind,
    of: { writes: compare('writes'), reads: compare('reads'), searches: compare('searches') },
    done: sum('done'),
    refused: sum('refused'),
    failed,
  }
}

function show(results: readonly Summary[]): void {
  process.stdout.write(
    `A quiet project's p95 beside ${FLOODERS} clients of another that send or ask all they can (allowed: ${RATIO_MAX} times)\n\n`,
  )
  const row = (cells: readonly string[]): string =>
    `${cells.map((cell, index) => cell.padEnd(index < 2 ? 10 : 16)).join('')}\n`
  process.stdout.write(row(['flood', 'of', 'alone', 'in the flood', 'times', 'rounds']))
  for (const { kind, done, refused, failed, of } of results) {
    for (const what of QUIET_KINDS) {
      const { aloneMs, floodedMs, ratio, ratioOfRounds } = of[what]
      const spread = ratioOfRounds.map((one) => one.toFixed(1)).join(' to ')
      const ms = [aloneMs, floodedMs].map((one) => `${one.toFixed(1)} ms`)
      process.stdout.write(row([kind, what, ...ms, ratio.toFixed(1), spread]))
    }
    process.stdout.write(
      `${' '.repeat(9)}flood: ${done} answered, ${refused} refused with a time to come back; quiet: ${failed} failed\n`,
    )
  }
}

await main()
