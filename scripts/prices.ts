/**
 * Writes `src/trace/costs/default-prices.json`, the default prices, from the table inside the litellm package (MIT) of
 * the clients' environment. `RELEASED` is the day that version came out.
 *
 *   node scripts/run.mjs prices RELEASED && npm run fix
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { sitePackagesOf } from '../src/stores/compute/python-environment.ts'
import { environmentFolder } from './python-environments.ts'
import { ROOT } from './repository.ts'

const TABLE = 'model_prices_and_context_window_backup.json'

/** USD for one token. The dearest models cost less than this; what costs more was entered for another unit. */
const PRICE_MAX = 0.001

/** Our names of the prices and theirs, in the order in which a row lists them; trailing zeros are left out. */
const PRICES = {
  prompt_token_cost: 'input_cost_per_token',
  completion_token_cost: 'output_cost_per_token',
  cache_read_input_token_cost: 'cache_read_input_token_cost',
  cache_creation_input_token_cost: 'cache_creation_input_token_cost',
}

const Model = z.record(z.string(), z.unknown())

function main(): void {
  const released = process.argv[2]
  if (!/^\d{4}-\d{2}-\d{2}$/.test(released ?? ''))
    throw new Error('Usage: node scripts/run.mjs prices YYYY-MM-DD')
  const packages = sitePackagesOf(environmentFolder('clients'))
  const version = readdirSync(packages)
    .map((name) => /^litellm-([\d.]+)\.dist-info$/.exec(name)?.[1])
    .find((found) => found !== undefined)
  const table: unknown = JSON.parse(readFileSync(join(packages, 'litellm', TABLE), 'utf8'))
  const models = Object.entries(z.record(z.string(), Model).parse(table))
  const prices: Record<string, Record<string, number[]>> = {}
  for (const [name, model] of models.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const row = rowOf(model)
    if (row === undefined) continue
    const provider = String(model['litellm_provider'])
    prices[provider] ??= {}
    prices[provider][name] = row
  }
  const document = {
    source: `${TABLE} of the Python package litellm ${version} (MIT)`,
    effective_date: `${released}T00:00:00.000000Z`,
    columns: Object.keys(PRICES),
    prices,
  }
  const text = JSON.stringify(document, null, 2)
  writeFileSync(join(ROOT, 'src/trace/costs/default-prices.json'), `${text}\n`)
}

/** Undefined for what has no price by the token. */
function rowOf(model: z.output<typeof Model>): number[] | undefined {
  const row: number[] = []
  for (const name of Object.values(PRICES)) {
    const price = model[name] ?? 0
    if (typeof price !== 'number' || price < 0 || price > PRICE_MAX) return undefined
    row.push(price)
  }
  while (row.at(-1) === 0) row.pop()
  return row.length > 0 ? row : undefined
}

main()
