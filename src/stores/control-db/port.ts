import { type Kysely, sql, type Transaction } from 'kysely'
import { StoreFailed } from '../../errors.ts'
import type { ControlTables } from './tables.ts'

/**
 * The control database: small rows that need transactions, queried through Kysely. Adapters: sqlite.ts, postgres.ts.
 * Queries use what SQLite and PostgreSQL both do alike, which `control-db.contract.ts` holds every adapter to:
 *
 * - A commit is on disk once its promise resolves. What a transaction's callback throws rolls it back. A statement that
 *   fails ends its transaction: nothing after it in there counts.
 * - Integers, counts and sums come back as numbers, exact up to 2^53; texts are any Unicode but U+0000, with which a
 *   statement that stores one is refused with 400.
 * - Texts are compared and ordered by code points, so ISO 8601 times by time.
 * - `returning`, `on conflict` and counts of changed rows work in every statement that changes rows. An empty list
 *   after `in`
 *   is true of no row.
 * - A statement that changes rows sees what others have committed before, so one that counts up gives each caller
 *   another
 *   number.
 * - A row whose key is taken is refused with {@link UniqueViolation}, a disk that fails with 503. A change that fails
 * was
 *   rolled back, unless it fails with {@link CommitInDoubt}.
 *
 * They differ in `like` (SQLite ignores the case of ASCII letters), in where nulls come in an order, and in functions:
 * queries use none of these where it shows.
 */
export type ControlDb = Kysely<ControlTables>

/** The control database, or a transaction in it. */
export type ControlTx = ControlDb | Transaction<ControlTables>

/** A row was refused because one of the same key is there. */
export class UniqueViolation extends Error {
  constructor(cause: unknown) {
    super('A row of the same key exists', { cause })
  }
}

/**
 * 503 for a commit without an answer: it may be stored or not. What its rows name must stay, and is left to what
 * removes the leftovers of a crash.
 */
export class CommitInDoubt extends StoreFailed {
  constructor(cause: unknown) {
    super('The control database did not confirm the change: it may be stored or not', cause)
  }
}

/** What is known of a control database between its statements. */
export interface ControlDbWatch {
  /** @throws 503 while no change can be stored */
  check(): void
  /** What is wrong while changes can be stored. */
  warnings(): string[]
}

/** Of a database in this process. */
export const NOTHING_WATCHED: ControlDbWatch = { check: () => undefined, warnings: () => [] }

/** Resolves when the database answers. */
export async function pingControlDb(control: ControlDb): Promise<void> {
  await sql`select 1`.execute(control)
}
