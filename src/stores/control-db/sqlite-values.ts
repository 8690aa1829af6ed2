import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { textRefused } from './text-refused.ts'

/** Statements that store their parameters; others only compare with them. */
const STORES = /^\s*(insert|update)\b/i

const READS = /^\s*select\b/i

/** node:sqlite throws it instead of a number that is not exact. */
const NOT_EXACT = 'ERR_OUT_OF_RANGE'

/**
 * SQLite itself keeps texts with U+0000, which PostgreSQL has no place for: a database with one could not be moved
 * there.
 * @throws 400
 */
export function checkTexts(sql: string, values: readonly SQLInputValue[]): void {
  if (!STORES.test(sql)) return
  if (values.some((value) => typeof value === 'string' && value.includes('\0'))) throw textRefused()
}

/** The rows of a statement; of an integer beyond 2^53 they have the nearest number, so that one row fails no list. */
export function rowsOf(statement: StatementSync, sql: string, values: readonly SQLInputValue[]): unknown[] {
  // A statement that changes rows must not run twice.
  if (!READS.test(sql)) return roundedRowsOf(statement, values)
  try {
    return statement.all(...values)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === NOT_EXACT)) throw error
    return roundedRowsOf(statement, values)
  }
}

/** It takes twice as long for statements with many rows. */
function roundedRowsOf(statement: StatementSync, values: readonly SQLInputValue[]): unknown[] {
  statement.setReadBigInts(true)
  try {
    return statement.all(...values).map((row) => Object.fromEntries(Object.entries(row).map(rounded)))
  } finally {
    statement.setReadBigInts(false)
  }
}

function rounded([column, value]: [string, unknown]): [string, unknown] {
  return [column, typeof value === 'bigint' ? Number(value) : value]
}
