import { formatNumber } from '../../../components/format.ts'
import { quantile } from './token-lines.ts'

/** One token with its log-probabilities under two steps of the model. */
export interface TokenFacts {
  id: number
  text: string
  /** Whether the model sampled it, so that it is trained; the rest is the prompt. */
  isSampled: boolean
  /** Under the step that sampled it; null for the first token. */
  before: number | null
  /** Under the step that was trained on it. */
  after: number | null
  advantage: number
}

export const QUANTITIES = ['before', 'after', 'change', 'advantage'] as const
export type Quantity = (typeof QUANTITIES)[number]

export const QUANTITY_NAMES: Record<Quantity, string> = {
  before: 'Log-probability, sampling step',
  after: 'Log-probability, trained step',
  change: 'Change by the training',
  advantage: 'Advantage',
}

/** Below a tenth: a token that the model would rarely choose. */
const SURPRISE = Math.log(0.1)

/** A change of e^±0.5 in probability. */
const LARGE_CHANGE = 0.5

export function tokenValue(token: TokenFacts, quantity: Quantity): number | null {
  if (quantity === 'advantage') return token.isSampled ? token.advantage : null
  if (quantity !== 'change') return token[quantity]
  return token.before === null || token.after === null ? null : token.after - token.before
}

/** Worth a look whatever the colours show: these are underlined too. */
export function isOutlier(token: TokenFacts, quantity: Quantity): boolean {
  const value = tokenValue(token, quantity)
  if (value === null || !token.isSampled || quantity === 'advantage') return false
  return quantity === 'change' ? Math.abs(value) > LARGE_CHANGE : value < SURPRISE
}

export interface Scale {
  /** Where the colours end. */
  low: number
  high: number
  colorOf: (value: number | null) => string | undefined
  legend: string
}

const STRONGEST_PERCENT = 62

/** One scale over all sampled tokens, clipped where the rarest percent would use up all colours. */
export function scaleOf(tokens: readonly TokenFacts[], quantity: Quantity): Scale {
  const values = tokens
    .filter(({ isSampled }) => isSampled)
    .map((token) => tokenValue(token, quantity))
    .filter((value) => value !== null)
  if (quantity === 'before' || quantity === 'after') {
    const low = Math.min(quantile(values, 0.01), SURPRISE)
    return {
      low,
      high: 0,
      colorOf: (value) => (value === null ? undefined : mix('accent', value / low)),
      legend: `0 (certain) to ${formatNumber(low)}; underlined below ${formatNumber(SURPRISE)}`,
    }
  }
  const reach = Math.max(quantile(values.map(Math.abs), 0.99), 1e-6)
  return {
    low: -reach,
    high: reach,
    colorOf: (value) =>
      value === null || value === 0
        ? undefined
        : mix(value > 0 ? 'better' : 'worse', Math.abs(value) / reach),
    legend:
      quantity === 'advantage'
        ? 'reward less the mean of the group: the same for every sampled token of an attempt'
        : `${formatNumber(-reach)} (less likely now) to ${formatNumber(reach)} (more likely)`,
  }
}

function mix(role: string, share: number): string {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * STRONGEST_PERCENT)
  return `color-mix(in oklch, var(--${role}) ${percent}%, transparent)`
}
