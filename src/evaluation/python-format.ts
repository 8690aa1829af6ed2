import { invalidRequest } from '../errors.ts'

/**
 * Fills a template as Python's `str.format` does for plain names: `{name}` is a value, `{{` and `}}` are braces.
 * @throws 400 for a name without a value, for braces that do not match, and for the rest of Python's format language.
 */
export function pythonFormat(template: string, values: Record<string, unknown>): string {
  return template.replaceAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found, name: string | undefined) => {
    if (found === '{{') return '{'
    if (found === '}}') return '}'
    if (name === undefined) throw invalidRequest(`The template has a single ${found}: write ${found}${found}`)
    if (!Object.hasOwn(values, name))
      throw invalidRequest(
        `The template asks for {${name}}, and there is only ${Object.keys(values).join(', ')}`,
      )
    return pythonText(values[name])
  })
}

/** A value as Python's `str` shows it. */
function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value)
}

function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return stringRepr(value)
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, member]) => `${stringRepr(key)}: ${pythonRepr(member)}`)
      .join(', ')}}`
  return String(value)
}

/** Python prefers single quotes, unless only those stand in the text. */
function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
  return `${quote}${escaped}${quote}`
}
