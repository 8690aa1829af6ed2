import { createHash } from 'node:crypto'
import { conflict } from '../errors.ts'
import type { IfVersion } from './settings-version-wire.ts'

/** Identifies settings by what is stored of them. */
export function versionOf(stored: unknown): string {
  return createHash('sha256').update(JSON.stringify(stored)).digest('base64url').slice(0, VERSION_CHARS)
}

/** 96 bits, which no two settings share by chance. */
const VERSION_CHARS = 16

/** @param what such as `The limits` @throws 409 where what is stored has another version than the request names */
export function checkVersion(what: string, stored: unknown, { if_version }: IfVersion): void {
  if (if_version != null && if_version !== versionOf(stored))
    throw conflict(`${what} were changed after they were read: read them again`)
}
