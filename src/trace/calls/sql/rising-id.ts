/** A UUIDv7 begins with its time, so such ids rise with it. */
const UUID_CHARS = 36
const VERSION_AT = 14

/** Whether an id is a UUIDv7. */
export function risesWithTime(id: string): boolean {
  return id.length === UUID_CHARS && id[VERSION_AT] === '7'
}

/** The same in SQL, of the column `id`. */
export const RISES_WITH_TIME = `(length(id) = ${UUID_CHARS} AND substring(id, ${VERSION_AT + 1}, 1) = '7')`
