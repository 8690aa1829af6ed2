import { invalidRequest } from '../../errors.ts'
import type { Published } from '../published.ts'
import type { Scorer } from './scorer.ts'

/** Scorers that are Python code of a client. */
export interface ScorerCode {
  /** @throws 400 where this server does not run code. */
  load(found: Published): Promise<Scorer>
}

/** Refuses all code. */
export const NO_SCORER_CODE: ScorerCode = {
  async load({ name }) {
    throw invalidRequest(
      `${name} is Python code, which this server does not run: its owner can allow that with HEDDLE_SCORER_CODE=run`,
    )
  },
}
