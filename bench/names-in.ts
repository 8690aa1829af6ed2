/**
 * Those of some names that an option lists, in any case, with commas between them; in their own order.
 * @throws Error that lists the names, where the option has another
 */
export function namesIn<Name extends string>(option: string, text: string, names: readonly Name[]): Name[] {
  const listed = text.toLowerCase().split(',')
  const unknown = listed.filter((one) => !names.some((name) => name.toLowerCase() === one))
  if (unknown.length > 0) throw new Error(`--${option} takes ${names.join(', ')}; not ${unknown.join(', ')}`)
  return names.filter((name) => listed.includes(name.toLowerCase()))
}
