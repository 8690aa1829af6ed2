import type { EntityLimits } from '../../api/limits.ts'
import { amountIn } from './amount.ts'

export type LimitName = keyof EntityLimits

/** The limits of a team, in the order of the page. */
export const LIMITS: readonly { name: LimitName; label: string; about: string; unit: string }[] = [
  {
    name: 'requests_per_minute',
    label: 'Requests',
    about: 'To any endpoint, of all keys together',
    unit: 'a minute',
  },
  { name: 'tokens_per_minute', label: 'Tokens', about: 'Of prompts and answers', unit: 'a minute' },
  { name: 'running_requests', label: 'Completions', about: 'Answered at the same time', unit: 'at a time' },
  { name: 'training_jobs', label: 'Training jobs', about: 'That run or wait', unit: 'at a time' },
  {
    name: 'evaluations',
    label: 'Evaluations',
    about: 'Of the server, that run or wait',
    unit: 'at a time',
  },
  { name: 'body_bytes', label: 'Request size', about: 'Uploads of files are not counted', unit: 'bytes' },
  { name: 'query_seconds', label: 'Query time', about: 'Of one query of calls', unit: 'seconds' },
  { name: 'query_rows', label: 'Query rows', about: 'That one query of calls looks through', unit: 'rows' },
  {
    name: 'storage_bytes',
    label: 'Storage',
    about: 'Calls, objects, tables, files, artifacts and training data',
    unit: 'bytes',
  },
]

/** Texts of the form; empty where nothing is limited. */
export type LimitDrafts = Record<LimitName, string>

export function draftsOf(limits: EntityLimits): LimitDrafts {
  const drafts = LIMITS.map(({ name }) => [name, limits[name] == null ? '' : String(limits[name])])
  // Every name is there.
  return Object.fromEntries(drafts) as LimitDrafts
}

/** The number of a text, null for an empty one; undefined for what is no whole number above zero. */
export function limitIn(text: string): number | null | undefined {
  if (text === '') return null
  const number = amountIn(text)
  const isWhole = !text.includes('.') && Number.isSafeInteger(number)
  return isWhole && number !== undefined && number > 0 ? number : undefined
}

/** The limits of the form; undefined while one of them is not valid. */
export function limitsIn(drafts: LimitDrafts): EntityLimits | undefined {
  const limits: EntityLimits = {}
  for (const { name } of LIMITS) {
    const limit = limitIn(drafts[name])
    if (limit === undefined) return undefined
    if (limit !== null) limits[name] = limit
  }
  return limits
}
