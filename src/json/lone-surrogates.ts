/** Escaped backslashes, escaped surrogates in pairs, and alone. */
const SURROGATES = /\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]../g

/** Replacement for an unpaired surrogate. */
const ALONE_CHARS = 6

/**
 * A JSON text in which each surrogate without its other half is replaced by U+FFFD: JSON may escape one, but no UTF-8
 * has it, so that other programs refuse the whole text.
 */
export function withoutLoneSurrogates(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json
  return json.replaceAll(SURROGATES, (match) => (match.length === ALONE_CHARS ? '\\ufffd' : match))
}
