import { CACHED_COSTS, sumOfMembers } from '../../../api/call-facts.ts'
import type { Call } from '../../../api/calls.ts'
import { numberOf, objectOf } from '../../../api/json.ts'
import type { Json } from '../../../api/wire.ts'
import { formatCost, formatCount, MISSING } from '../../../components/format.ts'
import { EmptyState } from '../../../components/states.tsx'

type Fields = { [key: string]: Json | undefined }

/** Prices are stored for one token and shown for a million. */
const PRICED_TOKENS = 1_000_000

/** What each model was given and gave, and at which price. */
export function CostTab({ call }: { call: Call }) {
  const summary = objectOf(call.summary)
  const usage = Object.entries(objectOf(summary['usage']))
  const costs = objectOf(objectOf(summary['weave'])['costs'])
  if (usage.length === 0)
    return (
      <EmptyState title="No tokens were counted">
        <p>A call that asks a model tells its tokens under `summary.usage`; this one told none.</p>
      </EmptyState>
    )
  return (
    <section
      aria-label="Costs"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
      className="thin-scroll overflow-x-auto"
    >
      <table className="tabular w-full border-collapse text-xs [&_td]:px-2 [&_td]:py-1.5 [&_th]:px-2 [&_th]:py-1 [&_th]:text-2xs [&_th]:font-normal [&_th]:text-muted">
        <thead>
          <tr className="border-b border-hair">
            <th className="text-start">Model</th>
            {COLUMNS.map(({ title }) => (
              <th key={title} className="text-end whitespace-nowrap">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {usage.map(([model, used]) => (
            <tr key={model} className="border-b border-hair/60">
              <td className="text-strong">{model}</td>
              {COLUMNS.map(({ title, text }) => (
                <td key={title} className="text-end whitespace-nowrap">
                  {text(objectOf(used), objectOf(costs[model]))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {usage.some(([model]) => costs[model] === undefined) && (
        <p className="px-2 pt-2 text-xs text-muted">A model without a cost has no price on this server.</p>
      )}
    </section>
  )
}

const perMillion = (price: Json | undefined) => {
  const one = numberOf(price)
  return one === null ? MISSING : formatCost(one * PRICED_TOKENS)
}

const COLUMNS: readonly { title: string; text: (used: Fields, cost: Fields) => string }[] = [
  { title: 'Requests', text: (used) => formatCount(numberOf(used['requests'])) },
  { title: 'In', text: (used) => formatCount(numberOf(used['prompt_tokens'] ?? used['input_tokens'])) },
  { title: 'Cached', text: (used) => formatCount(numberOf(used['cache_read_input_tokens'])) },
  { title: 'Added to cache', text: (used) => formatCount(numberOf(used['cache_creation_input_tokens'])) },
  { title: 'Out', text: (used) => formatCount(numberOf(used['completion_tokens'] ?? used['output_tokens'])) },
  { title: 'Cost in', text: (_, cost) => formatCost(numberOf(cost['prompt_tokens_total_cost'])) },
  { title: 'Cost cached', text: (_, cost) => formatCost(sumOfMembers(cost, CACHED_COSTS)) },
  { title: 'Cost out', text: (_, cost) => formatCost(numberOf(cost['completion_tokens_total_cost'])) },
  { title: 'Price in, 1M', text: (_, cost) => perMillion(cost['prompt_token_cost']) },
  { title: 'Price out, 1M', text: (_, cost) => perMillion(cost['completion_token_cost']) },
]
