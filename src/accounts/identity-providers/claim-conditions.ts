/** Conditions on the claims of an identity token, by the names of the claims. */
export type Conditions = Readonly<Record<string, string>>

/** Whether every condition holds. Of a claim that is a list, one element is enough. */
export function fits(claims: Readonly<Record<string, unknown>>, conditions: Conditions): boolean {
  return Object.entries(conditions).every(([name, pattern]) => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined
    return [value].flat().some((one) => isPlain(one) && matches(String(one), pattern))
  })
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/** Whether the whole text is the pattern, in which `*` is any text. In time linear in the text for each `*`. */
function matches(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
