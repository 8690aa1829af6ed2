/** Wire: spaces and slashes become underscores, what else no name may have is left out, the rest is lower case. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[ /]/g, '_').replaceAll(/[^\p{L}\p{N}_.-]/gu, '')
  return safe.toLowerCase()
}
