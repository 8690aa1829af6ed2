import { createHash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'

/** A new id: UUIDv7, lower case, so that ids sort by the time they were made. */
export function newId(): string {
  return uuidv7()
}

/** The least id that is made at a time, in milliseconds since 1970: ids of earlier times sort before it. */
export function firstIdAt(msecs: number): string {
  return uuidv7({ msecs, random: new Uint8Array(16), seq: 0 })
}

/** The id derived from `name`, always the same: a UUIDv7 of the time `msecs`, in milliseconds since 1970. */
export function idOf(name: string, msecs: number): string {
  const hash = createHash('sha256').update(name).digest()
  return uuidv7({ msecs, random: hash.subarray(0, 16), seq: hash.readUInt32BE(16) })
}

/**
 * The id derived from `name` and `base`, another UUIDv7, always the same: work that is repeated after a crash writes
 * the same rows. It has the time of `base`, so related rows are stored close together.
 */
export function derivedId(base: string, name: string): string {
  return idOf(`${base}/${name}`, Number.parseInt(base.replace('-', '').slice(0, 12), 16))
}
