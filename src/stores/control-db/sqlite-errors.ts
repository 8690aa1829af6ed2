import { diskBroken, diskFull } from '../disk-errors.ts'
import { UniqueViolation } from './port.ts'

/** The low byte of a code is the kind of error, the others the place: https://sqlite.org/rescode.html */
const PRIMARY_CODE = 0xff
const FULL = 13
/** READONLY, IOERR and CANTOPEN. */
const BROKEN = new Set([8, 10, 14])
/** CONSTRAINT_PRIMARYKEY and CONSTRAINT_UNIQUE. */
const UNIQUE = new Set([1555, 2067])

/** An error of SQLite as the port defines it; any other error unchanged. */
export function sqliteError(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  if (UNIQUE.has(error.errcode)) return new UniqueViolation(error)
  const code = error.errcode & PRIMARY_CODE
  if (code === FULL) return diskFull(error)
  return BROKEN.has(code) ? diskBroken(error) : error
}
