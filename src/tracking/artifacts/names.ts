import { invalidRequest } from '../../errors.ts'

/** Wire: names, types and aliases of the hosted service stay below this. */
const NAME_CHARS_MAX = 128

/** Aliases of one request, which one transaction writes: others wait for it. */
const ALIASES_MAX = 100

/** The computed alias: the highest version that is not deleted. */
export const LATEST = 'latest'

/** Checks a collection's name or type. @throws 400. Wire: slashes and colons separate names from each other. */
export function checkName(what: string, name: string): string {
  if (name === '' || name.length > NAME_CHARS_MAX || /[/:]/.test(name)) {
    throw invalidRequest(
      `The ${what} of an artifact has 1 to ${NAME_CHARS_MAX} characters, none of them "/" or ":"`,
    )
  }
  return name
}

/** Checks how many aliases a request names. @throws 400 for too many. */
export function checkAliasCount(aliases: readonly unknown[]): void {
  if (aliases.length > ALIASES_MAX)
    throw invalidRequest(`Name ${ALIASES_MAX} aliases at once at most, not ${aliases.length}`)
}

/** Checks aliases and leaves out those that are not stored. @throws 400 for a name that reads as a version. */
export function storedAliases(aliases: readonly string[]): string[] {
  const wanted = new Set(aliases.filter((alias) => alias !== LATEST))
  for (const alias of wanted) {
    checkName('alias', alias)
    if (versionOf(alias) !== undefined)
      throw invalidRequest(`The alias ${alias} would be taken for a version`)
  }
  return [...wanted]
}

/** The number of `v3`; undefined for other texts. */
export function versionOf(alias: string): number | undefined {
  const [, digits] = /^v(\d{1,15})$/.exec(alias) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** Splits `name:alias`; without an alias, the alias is `latest`. */
export function splitReference(reference: string): { name: string; alias: string } {
  const colon = reference.indexOf(':')
  if (colon < 0) return { name: reference, alias: LATEST }
  return { name: reference.slice(0, colon), alias: reference.slice(colon + 1) }
}
