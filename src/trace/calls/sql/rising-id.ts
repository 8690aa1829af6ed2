/** A UUIDv7 begins with its time, so such ids rise with it. */
const UUID_CHARS = 36
const VERSION_AT = 14

/** Whether an id is a UUIDv7. */
export function risesWithTime(id: string): boolean {
  return id.length === UUID_CHARS && id[VERSION_AT] === '7'
}

/** The same in SQL, of a column. */
export function risesWithTimeSql(column: string): string {
  return `(length(${column}) = ${UUID_CHARS} AND substring(${column}, ${VERSION_AT + 1}, 1) = '7')`
}
