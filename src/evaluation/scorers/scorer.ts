import type { Ask } from '../asking.ts'

/** What is scored: what a model put out, and what it was asked with or the row of the dataset. */
export interface Scored {
  output: unknown
  /** By name of argument or column. */
  inputs: Record<string, unknown>
}

/** Something that scores. */
export interface Scorer {
  /** Under which results keep what it says. */
  name: string
  /** Of the object, or of the op that it is. */
  ref: string
  /** Of the call that scoring is, without a version. */
  opName: string
  /** @throws ClientError that says why this cannot be scored. */
  score(scored: Scored, ask: Ask): Promise<unknown>
}
