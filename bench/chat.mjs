/**
 * What Heddle adds to a chat completion: the same load straight to its vLLM and through Heddle, in turns, so that
 * whatever else the machine does meets both; then Heddle's memory over many requests.
 */
import { parseArgs } from 'node:util'
import { load, median, openTarget } from './load.mjs'
import { lastSlope, openInspector } from './memory.mjs'
import { writeResults } from './results-file.mjs'

const BASE_MODEL = 'heddle/loom-tiny'
const PROJECT = 'bench'
const ANSWER_TOKENS = 32

/** At 64 at a time; one at a time takes a sixteenth of them. */
const REQUESTS = 256

const MEMORY_REQUESTS = 10_000
const MEMORY_AT_ONCE = 64
const MEMORY_READINGS = 10

/** The goals that the table is read against. */
const GOALS = { ratio: 0.95, addedMs: 10 }

const OPTIONS = {
  'base-url': { type: 'string' },
  'api-key': { type: 'string' },
  'engine-url': { type: 'string' },
  'engine-key': { type: 'string' },
  inspector: { type: 'string' },
  'server-pid': { type: 'string' },
  rounds: { type: 'string', default: '9' },
  requests: { type: 'string', default: String(REQUESTS) },
  'skip-memory': { type: 'boolean', default: false },
  json: { type: 'string' },
}

async function main() {
  const { values: given } = parseArgs({ options: OPTIONS })
  const rounds = Number(given.rounds)
  const heddle = openTarget(given['base-url'], { authorization: `Bearer ${given['api-key']}` })
  const engineHeaders = { authorization: `Bearer ${given['engine-key']}` }
  const direct = openTarget(given['engine-url'], engineHeaders)
  const names = await adapterNames(given, heddle, engineHeaders)
  const cells = allCells(names)
  for (let round = 0; round <= rounds; round++) {
    for (const cell of cells)
      await takeTurns({ cell, round, rounds, heddle, direct, requests: given.requests })
  }
  const rows = cells.map(summary)
  showRows(rows, rounds)
  const memory = given['skip-memory'] ? undefined : await measureMemory(heddle, given)
  await Promise.all([heddle.close(), direct.close()])
  writeResults(given.json, { settings: { rounds, answer_tokens: ANSWER_TOKENS }, rows, memory })
}

/** The name of a new model for Heddle, and the one under which Heddle has loaded its adapter for vLLM. */
async function adapterNames(given, heddle, engineHeaders) {
  const name = `chat-${Date.now()}`
  const reply = await fetch(`${given['base-url']}/v1/preview/models`, {
    method: 'POST',
    headers: { authorization: `Bearer ${given['api-key']}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project: PROJECT, name, base_model: BASE_MODEL }),
  })
  if (!reply.ok) throw new Error(await reply.text())
  const { entity } = await reply.json()
  const forHeddle = `wandb-artifact:///${entity}/${PROJECT}/${name}:step0`
  await heddle.ask(question({ model: forHeddle, stream: false, tokens: 1 }))
  const { data } = await (await fetch(`${given['engine-url']}/v1/models`, { headers: engineHeaders })).json()
  return { heddle: forHeddle, direct: data.findLast(({ id }) => id !== BASE_MODEL).id }
}

function allCells(adapter) {
  const models = { base: { heddle: BASE_MODEL, direct: BASE_MODEL }, adapter }
  return [1, 64].flatMap((atOnce) =>
    [true, false].flatMap((stream) =>
      Object.entries(models).map(([model, names]) => ({ atOnce, stream, model, names, taken: [] })),
    ),
  )
}

/** One round of one cell; the first is warm-up, and who begins changes from round to round. */
async function takeTurns({ cell, round, rounds, heddle, direct, requests }) {
  const targets = { direct, heddle }
  const measured = {}
  for (const side of round % 2 === 0 ? ['direct', 'heddle'] : ['heddle', 'direct']) {
    measured[side] = await load(targets[side], {
      atOnce: cell.atOnce,
      requests: cell.atOnce === 1 ? Number(requests) / 16 : Number(requests),
      bodies: () => question({ model: cell.names[side], stream: cell.stream, tokens: ANSWER_TOKENS }),
    })
  }
  if (round > 0) cell.taken.push(measured)
  const what = `${cell.atOnce} at once, ${cell.model}, ${cell.stream ? 'streamed' : 'whole'}`
  const kind = round === 0 ? 'warm-up' : `round ${round}/${rounds}`
  const speeds = Object.entries(measured).map(([side, { perSecond }]) => `${side} ${perSecond.toFixed(1)}/s`)
  process.stdout.write(`${kind}  ${what.padEnd(32)} ${speeds.toSorted().join('  ')}\n`)
}

let asked = 0

/** Short, and never the same twice, so that no answer comes from a cache. */
function question({ model, stream, tokens }) {
  const number = asked++
  const content = `What is ${number % 1000} + ${Math.floor(number / 1000)}?`
  const messages = [{ role: 'user', content }]
  return { model, messages, stream, max_tokens: tokens, ignore_eos: true, temperature: 0 }
}

/** Medians over the rounds; ratio and difference are taken within each round. */
function summary({ atOnce, stream, model, taken }) {
  const of = (number) => median(taken.map(number))
  return {
    at_once: atOnce,
    model,
    streamed: stream,
    direct_per_second: of(({ direct }) => direct.perSecond),
    heddle_per_second: of(({ heddle }) => heddle.perSecond),
    ratio: of(({ direct, heddle }) => heddle.perSecond / direct.perSecond),
    ...(stream && {
      direct_first_ms: of(({ direct }) => direct.firstMs),
      heddle_first_ms: of(({ heddle }) => heddle.firstMs),
      added_ms: of(({ direct, heddle }) => heddle.firstMs - direct.firstMs),
    }),
    rounds: taken,
  }
}

function showRows(rows, rounds) {
  const columns = [
    'at once',
    'model',
    '',
    'vLLM /s',
    'Heddle /s',
    'ratio',
    'vLLM first ms',
    'Heddle',
    'added',
  ]
  const lines = rows.map((row) => [
    String(row.at_once),
    row.model,
    row.streamed ? 'streamed' : 'whole',
    row.direct_per_second.toFixed(1),
    row.heddle_per_second.toFixed(1),
    row.ratio.toFixed(3),
    ...[row.direct_first_ms, row.heddle_first_ms, row.added_ms].map((ms) => ms?.toFixed(1) ?? ''),
  ])
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...lines.map((line) => line[index].length)),
  )
  const shown = [columns, ...lines].map((line) =>
    line.map((text, index) => text.padStart(widths[index])).join('  '),
  )
  process.stdout.write(`
Answers of ${ANSWER_TOKENS} tokens, medians of ${rounds} rounds; goals: ratio at least ${GOALS.ratio}, at most ${GOALS.addedMs} ms added
${shown.join('\n')}
`)
}

/** The server's memory over short requests; a server that keeps nothing of them stays flat. */
async function measureMemory(heddle, given) {
  const inspector = await openInspector(given.inspector, Number(given['server-pid']))
  const requests = MEMORY_REQUESTS / MEMORY_READINGS
  const bodies = () => question({ model: BASE_MODEL, stream: asked % 2 === 0, tokens: 1 })
  const readings = []
  process.stdout.write('\nMemory of Heddle after collections, over short requests\n')
  for (let reading = 0; reading <= MEMORY_READINGS; reading++) {
    if (reading > 0) await load(heddle, { atOnce: MEMORY_AT_ONCE, requests, bodies })
    const { rss, heap } = await inspector.read()
    readings.push({ requests: reading * requests, rss_mib: rss, heap_mib: heap })
    process.stdout.write(
      `${reading * requests} requests  ${rss.toFixed(0)} MiB, heap ${heap.toFixed(1)} MiB\n`,
    )
  }
  inspector.close()
  const slope = (lastSlope(readings.map((reading) => reading.rss_mib)) / requests) * 1000
  process.stdout.write(`the last third grows by ${slope.toFixed(2)} MiB per 1000 requests\n`)
  return { readings, slope_mib_per_1000: slope }
}

await main()
