import { tooManyRequests } from '../../errors.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { LimitBook } from './limit-book.ts'

/** Retry-After, in seconds: jobs take minutes. */
const RETRY_SECONDS = 60

/** Durable work that is about to be added. */
export interface NewWork {
  kind: 'training_jobs' | 'evaluations'
  entity: string
  keyId: string
  /** How many jobs of an entity, or of a key, run or wait. */
  countOpenBy: (by: 'entity' | 'key_id', name: string, tx: ControlTx) => Promise<number>
}

/** Limits of the jobs that keys and entities have running or waiting. */
export interface WorkLimits {
  /** To be asked in the transaction that adds the work. @throws 429 */
  check(tx: ControlTx, work: NewWork): Promise<void>
}

export function createWorkLimits({ book }: { book: LimitBook }): WorkLimits {
  return {
    async check(tx, { kind, entity, keyId, countOpenBy }) {
      const subjects = [
        { whose: 'This key', limit: book.of('key', keyId)[kind], by: 'key_id', name: keyId },
        { whose: entity, limit: book.of('entity', entity)[kind], by: 'entity', name: entity },
      ] as const
      for (const { whose, limit, by, name } of subjects) {
        if (limit === undefined) continue
        const open = await countOpenBy(by, name, tx)
        if (open < limit) continue
        const has = `${whose} has ${open} ${kind.replace('_', ' ')} that run or wait, and its limit is ${limit}`
        throw tooManyRequests(`${has}: try again when one has ended, or cancel one`, RETRY_SECONDS)
      }
    },
  }
}
