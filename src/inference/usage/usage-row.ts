/** What one key spent on one model within one hour. */
export interface UsageRow {
  entity: string
  /** Empty where the request named none. */
  project: string
  model: string
  base_model: string
  step: number
  key: string
  /** Its start, ISO 8601. */
  hour: string
  requests: number
  requests_cut: number
  prompt_tokens: number
  cached_tokens: number
  completion_tokens: number
  reasoning_tokens: number
}
