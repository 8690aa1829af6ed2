/**
 * Writes `src/trace/costs/default-prices.json`, the default prices, from the table inside the litellm package (MIT) of
 * the clients' environment. `RELEASED` is the day that version came out.
 *
 *   node scripts/prices.mjs RELEASED && npm run fix
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sitePackagesOf } from './python-env.mjs'
import { environmentFolder, ROOT } from './setup.mjs'

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

function main() {
  const released = process.argv[2]
  if (!/^\d{4}-\d{2}-\d{2}$/.test(released ?? ''))
    throw new Error('Usage: node scripts/prices.mjs YYYY-MM-DD')
  const packages = sitePackagesOf(environmentFolder('clients'))
  const version = readdirSync(packages)
    .map((name) => /^litellm-([\d.]+)\.dist-info$/.exec(name)?.[1])
    .find((found) => found !== undefined)
  const models = JSON.parse(readFileSync(join(packages, 'litellm', TABLE), 'utf8'))
  const prices = {}
  for (const [name, model] of Object.entries(models).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const row = rowOf(model)
    if (row === undefined) continue
    prices[model.litellm_provider] ??= {}
    prices[model.litellm_provider][name] = row
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
function rowOf(model) {
  const row = Object.values(PRICES).map((name) => model[name] ?? 0)
  if (row.some((price) => typeof price !== 'number' || price < 0 || price > PRICE_MAX)) return undefined
  while (row.at(-1) === 0) row.pop()
  return row.length > 0 ? row : undefined
}

main()
