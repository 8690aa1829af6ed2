/** What no POSIX shell reads anything into. */
const PLAIN = /^[\w@%+=:,./-]+$/

/**
 * A text as one argument of a command that people or programs give to a shell: as it is, or quoted where that is
 * needed.
 */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
