/** Wire: spaces and slashes become underscores, what else no name may have is left out, the rest is lower case. */
export function safeName(name: string): string {
  // The lower case of "İ" has a mark that no name may have.
  return onlyNameCharacters(onlyNameCharacters(name.replaceAll(/[ /]/g, '_')).toLowerCase())
}

/** Leaves out what no name of an object may have. */
export function onlyNameCharacters(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}_.-]/gu, '')
}

/** The start of a name, without the half of a character (UTF-16) that would be its end. */
export function startOfName(name: string, unitsMax: number): string {
  return name.slice(0, unitsMax).replace(/[\uD800-\uDBFF]$/, '')
}
