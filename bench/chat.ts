/**
 * What Heddle adds to a chat completion: the same load straight to its vLLM and through Heddle, alternating, so that
 * other load of the machine affects both; the cost of token ids for training; then Heddle's memory over many requests.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { type ChatTarget, type Load, load, openChatTarget, question } from './load.ts'
import { lastSlope, openInspector } from './memory.ts'
import { writeResults } from './results-file.ts'
import { median } from './statistics.ts'

/** Who is asked: vLLM, or Heddle in front of it. */
type Side = 'direct' | 'heddle'
type Sides = Readonly<Record<Side, ChatTarget>>

/** A name on each side for the same model. */
type Names = Readonly<Record<Side, string>>

/** One kind of load, and what each round of it has measured. */
interface Cell {
  atOnce: number
  stream: boolean
  model: string
  names: Names
  taken: Record<Side, Load>[]
}

const BASE_MODEL = 'heddle/loom-tiny'
const PROJECT = 'bench'
const ANSWER_TOKENS = 32

/** At 64 at a time; one at a time takes a sixteenth of them. */
const REQUESTS = 256

const MEMORY_REQUESTS = 10_000
const MEMORY_AT_ONCE = 64
const MEMORY_READINGS = 10

/** The goals in the tables. */
const GOALS = { ratio: 0.95, addedMs: 10, idsRatio: 0.99 }

/** Sentences before a question whose ids are measured: some 600 tokens, as a conversation of a few turns has. */
const PROMPT_SENTENCES = 60

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
  'only-ids': { type: 'boolean', default: false },
  json: { type: 'string' },
} as const

const Given = z.object({
  'base-url': z.string(),
  'api-key': z.string(),
  'engine-url': z.string(),
  'engine-key': z.string(),
  inspector: z.string(),
  'server-pid': z.coerce.number(),
  rounds: z.coerce.number(),
  requests: z.coerce.number(),
  'skip-memory': z.boolean(),
  'only-ids': z.boolean(),
  json: z.string().optional(),
})
type Given = z.output<typeof Given>

async function main(): Promise<void> {
  const given = Given.parse(parseArgs({ options: OPTIONS }).values)
  const { rounds, requests } = given
  const heddle = openChatTarget(given['base-url'], given['api-key'])
  const direct = openChatTarget(given['engine-url'], given['engine-key'])
  const sides = { heddle, direct }
  const names = await adapterNames(given, heddle)
  const cells = given['only-ids'] ? [] : allCells(names)
  for (let round = 0; round <= rounds; round++) {
    for (const cell of cells) await takeTurns({ cell, round, rounds, sides, requests })
  }
  const rows = cells.map(summary)
  if (rows.length > 0) showRows(rows, rounds)
  const ids = await measureIds({ names, rounds, sides, requests })
  const skipsMemory = given['skip-memory'] || given['only-ids']
  const memory = skipsMemory ? undefined : await measureMemory(heddle, given)
  await Promise.all([heddle.close(), direct.close()])
  writeResults(given.json, { settings: { rounds, answer_tokens: ANSWER_TOKENS }, rows, ids, memory })
}

/** The name of a new model for Heddle, and the one under which Heddle has loaded its adapter for vLLM. */
async function adapterNames(given: Given, heddle: ChatTarget): Promise<Names> {
  const name = `chat-${Date.now()}`
  const reply = await fetch(`${given['base-url']}/v1/preview/models`, {
    method: 'POST',
    headers: { authorization: `Bearer ${given['api-key']}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project: PROJECT, name, base_model: BASE_MODEL }),
  })
  if (!reply.ok) throw new Error(await reply.text())
  const { entity } = z.object({ entity: z.string() }).parse(await reply.json())
  const forHeddle = `wandb-artifact:///${entity}/${PROJECT}/${name}:step0`
  await heddle.ask(question({ model: forHeddle, stream: false, tokens: 1 }))
  const models = await fetch(`${given['engine-url']}/v1/models`, {
    headers: { authorization: `Bearer ${given['engine-key']}` },
  })
  const { data } = z.object({ data: z.array(z.object({ id: z.string() })) }).parse(await models.json())
  const adapter = data.findLast(({ id }) => id !== BASE_MODEL)
  if (adapter === undefined) throw new Error('Heddle has loaded no adapter')
  return { heddle: forHeddle, direct: adapter.id }
}

function allCells(adapter: Names): Cell[] {
  const models = { base: { heddle: BASE_MODEL, direct: BASE_MODEL }, adapter }
  return [1, 64].flatMap((atOnce) =>
    [true, false].flatMap((stream) =>
      Object.entries(models).map(([model, names]) => ({ atOnce, stream, model, names, taken: [] })),
    ),
  )
}

/** One round of one cell; the first is warm-up, and the order alternates. */
async function takeTurns({
  cell,
  round,
  rounds,
  sides,
  requests,
}: {
  cell: Cell
  round: number
  rounds: number
  sides: Sides
  requests: number
}): Promise<void> {
  const measure = (side: Side): Promise<Load> =>
    load(sides[side], {
      atOnce: cell.atOnce,
      requests: cell.atOnce === 1 ? requests / 16 : requests,
      bodies: () => question({ model: cell.names[side], stream: cell.stream, tokens: ANSWER_TOKENS }),
    })
  const order = round % 2 === 0 ? (['direct', 'heddle'] as const) : (['heddle', 'direct'] as const)
  const [one, other] = [await measure(order[0]), await measure(order[1])]
  const measured = round % 2 === 0 ? { direct: one, heddle: other } : { heddle: one, direct: other }
  if (round > 0) cell.taken.push(measured)
  const what = `${cell.atOnce} at once, ${cell.model}, ${cell.stream ? 'streamed' : 'whole'}`
  const kind = round === 0 ? 'warm-up' : `round ${round}/${rounds}`
  const speeds = Object.entries(measured).map(([side, { perSecond }]) => `${side} ${perSecond.toFixed(1)}/s`)
  process.stdout.write(`${kind}  ${what.padEnd(32)} ${speeds.toSorted().join('  ')}\n`)
}

/** Medians over the rounds; ratio and difference are taken within each round. */
function summary({ atOnce, stream, model, taken }: Cell) {
  const of = (number: (round: Record<Side, Load>) => number): number => median(taken.map(number))
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

function showRows(rows: readonly ReturnType<typeof summary>[], rounds: number): void {
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
    Math.max(column.length, ...lines.map((line) => line[index]?.length ?? 0)),
  )
  const shown = [columns, ...lines].map((line) =>
    line.map((text, index) => text.padStart(widths[index] ?? 0)).join('  '),
  )
  process.stdout.write(`
Answers of ${ANSWER_TOKENS} tokens, medians of ${rounds} rounds; goals: ratio at least ${GOALS.ratio}, at most ${GOALS.addedMs} ms added
${shown.join('\n')}
`)
}

/**
 * Rollouts of an adapter, with log-probabilities: vLLM without token ids, with them, and Heddle, which asks for them
 * and notes them on every choice.
 */
async function measureIds({
  names,
  rounds,
  sides: { direct, heddle },
  requests,
}: {
  names: Names
  rounds: number
  sides: Sides
  requests: number
}): Promise<object[]> {
  const long = 'The quick brown fox jumps over the lazy dog. '.repeat(PROMPT_SENTENCES)
  const sides = {
    without: { target: direct, model: names.direct, more: {} },
    with: { target: direct, model: names.direct, more: { return_token_ids: true } },
    heddle: { target: heddle, model: names.heddle, more: {} },
  }
  const order = ['without', 'with', 'heddle'] as const
  const rows: object[] = []
  process.stdout.write(`\nToken ids of rollouts with long prompts, ${MEMORY_AT_ONCE} at once, medians\n`)
  for (const stream of [true, false]) {
    const taken: Record<keyof typeof sides, number>[] = []
    for (let round = 0; round <= rounds; round++) {
      const measured = { without: 0, with: 0, heddle: 0 }
      for (const side of [...order.slice(round % 3), ...order.slice(0, round % 3)]) {
        const { target, model, more } = sides[side]
        const bodies = () => {
          const asked = question({ model, stream, tokens: ANSWER_TOKENS, before: long })
          return { ...asked, logprobs: true, return_tokens_as_token_ids: true, ...more }
        }
        measured[side] = (await load(target, { atOnce: MEMORY_AT_ONCE, requests, bodies })).perSecond
      }
      if (round > 0) taken.push(measured)
    }
    const of = (number: (round: (typeof taken)[number]) => number): number => median(taken.map(number))
    const row = {
      streamed: stream,
      without_per_second: of((one) => one.without),
      ids_ratio: of((one) => one.with / one.without),
      heddle_ratio: of((one) => one.heddle / one.with),
      rounds: taken,
    }
    rows.push(row)
    const ratios = `with ids ${row.ids_ratio.toFixed(3)} of that (goal ${GOALS.idsRatio}), Heddle ${row.heddle_ratio.toFixed(3)} of those`
    const what = stream ? 'streamed' : 'whole   '
    process.stdout.write(`${what}  vLLM without ids ${row.without_per_second.toFixed(1)}/s, ${ratios}\n`)
  }
  return rows
}

/** The server's memory over short requests; a server that keeps nothing of them stays flat. */
async function measureMemory(heddle: ChatTarget, given: Given): Promise<object> {
  const inspector = await openInspector(given.inspector, given['server-pid'])
  const requests = MEMORY_REQUESTS / MEMORY_READINGS
  let asked = 0
  const bodies = () => question({ model: BASE_MODEL, stream: asked++ % 2 === 0, tokens: 1 })
  const readings: { requests: number; rss_mib: number; heap_mib: number }[] = []
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
