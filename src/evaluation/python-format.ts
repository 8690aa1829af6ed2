import { type ClientError, invalidRequest } from '../errors.ts'
import { type FilledChars, valueTexts } from '../filled-templates.ts'

/** Names that an error lists: inputs may have thousands. */
const NAMES_SHOWN_MAX = 20

/**
 * Fills templates as Python's `str.format` does for plain names: `{name}` is a value, `{{` and `}}` are braces.
 * @param filled counts the templates and the values in them
 * @throws from what it returns, 400 for a name without a value, for braces that do not match, and for the rest of
 * Python's format language; 413 for more than a question may have
 */
export function pythonFormat(
  values: Record<string, unknown>,
  filled: FilledChars,
): (template: string) => string {
  const textOf = valueTexts(values, pythonText, filled)
  return (template) => {
    filled.add(template.length)
    return template.replaceAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found, name: string | undefined) => {
      filled.placeholder()
      if (found === '{{') return '{'
      if (found === '}}') return '}'
      if (name === undefined)
        throw invalidRequest(`The template has a single ${found}: write ${found}${found}`)
      if (!Object.hasOwn(values, name)) throw unknownName(name, Object.keys(values))
      return textOf(name)
    })
  }
}

function unknownName(name: string, known: readonly string[]): ClientError {
  const more = known.length > NAMES_SHOWN_MAX ? ', …' : ''
  return invalidRequest(
    `The template asks for {${name}}, and there is only ${known.slice(0, NAMES_SHOWN_MAX).join(', ')}${more}`,
  )
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
