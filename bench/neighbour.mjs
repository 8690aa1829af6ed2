/**
 * The effect of one project's flood on another: small writes and reads of a quiet project, alone and while twelve
 * clients of another send as many requests as they can, alternating on one server. The floods run in a process of their
 * own.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentile, quietLoad } from './neighbour/quiet.mjs'
import { writeResults } from './results-file.mjs'
import { startServer } from './traces/servers.mjs'

/** What promise 5 allows (docs/ARCHITECTURE.md): how many times as long the slowest twentieth may take. */
const RATIO_MAX = 3

const FLOODERS = 12

/** Each kind of flood is a round of its own, so that none hides behind another. */
const FLOODS = ['writes', 'reads', 'both']

async function main() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '10' },
      json: { type: 'string' },
    },
  })
  const ms = Number(values.seconds) * 1000
  const server = await startServer('Heddle')
  const flood = fork(fileURLToPath(new URL('./neighbour/flood.mjs', import.meta.url)), [server.url])
  try {
    const quiet = await quietLoad(server.url)
    await tell(flood, { kind: 'fill' })
    await quiet.measure(ms / 2)
    const rounds = []
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const kind of FLOODS) {
        const alone = await quiet.measure(ms)
        await tell(flood, { kind, flooders: FLOODERS })
        const flooded = await quiet.measure(ms)
        const { done, refused } = await tell(flood, { kind: 'stop' })
        rounds.push({ kind, alone, flooded, done, refused })
        process.stdout.write(`\rround ${rounds.length} of ${FLOODS.length * Number(values.rounds)}`)
      }
    }
    process.stdout.write('\n')
    const results = FLOODS.map((kind) => summary(kind, rounds))
    show(results)
    writeResults(values.json, { results, rounds })
    await quiet.close()
    if (results.some(({ writes, reads }) => Math.max(writes.ratio, reads.ratio) > RATIO_MAX))
      process.exitCode = 1
  } finally {
    flood.kill()
    await server.stop()
  }
}

/** Sends the flood its next task; resolves with its counts. */
async function tell(flood, message) {
  flood.send(message)
  const [reply] = await once(flood, 'message')
  return reply
}

function summary(kind, rounds) {
  const of = rounds.filter((round) => round.kind === kind)
  const compare = (what) => {
    const p95s = of.map(({ alone, flooded }) => [percentile(alone[what], 95), percentile(flooded[what], 95)])
    const all = (which) =>
      percentile(
        of.flatMap((round) => round[which][what]),
        95,
      )
    const ratios = p95s.map(([alone, flooded]) => flooded / alone).sort((a, b) => a - b)
    return {
      aloneMs: all('alone'),
      floodedMs: all('flooded'),
      ratio: all('flooded') / all('alone'),
      ratioOfRounds: [ratios[0], ratios.at(-1)],
    }
  }
  const sum = (name) => of.reduce((total, round) => total + round[name], 0)
  const failed = of.reduce((total, { alone, flooded }) => total + alone.failed + flooded.failed, 0)
  return {
    kind,
    writes: compare('writes'),
    reads: compare('reads'),
    done: sum('done'),
    refused: sum('refused'),
    failed,
  }
}

function show(results) {
  process.stdout.write(
    `A quiet project's p95 beside ${FLOODERS} clients of another that send or ask all they can (allowed: ${RATIO_MAX} times)\n\n`,
  )
  const row = (cells) => `${cells.map((cell, index) => String(cell).padEnd(index < 2 ? 9 : 16)).join('')}\n`
  process.stdout.write(row(['flood', 'of', 'alone', 'in the flood', 'times', 'rounds']))
  for (const { kind, done, refused, failed, ...measured } of results) {
    for (const what of ['writes', 'reads']) {
      const { aloneMs, floodedMs, ratio, ratioOfRounds } = measured[what]
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
