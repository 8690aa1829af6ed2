import { runInNewContext } from 'node:vm'
import { distance } from 'fastest-levenshtein'
import { z } from 'zod'
import { invalidRequest, messageOf } from '../errors.ts'
import { checked } from '../wire/checked.ts'
import { ColumnMap, withMapped } from './column-map.ts'
import { conforms } from './conforms.ts'

/** Comparing takes the product of both lengths. */
const COMPARED_CHARS_MAX = 100_000

/**
 * Of wall time, which a busy machine may take from a fast expression; one that backtracks without end is ended long
 * before the limit of its thread.
 */
const REGEX_MS_MAX = 500

/** A score by fixed rules. */
type Rule = (scored: Compared) => unknown

/** What a rule is applied to: a model's output, and the inputs of its call by name. */
export interface Compared {
  output: unknown
  inputs: Record<string, unknown>
}

/**
 * Fields of the scorer classes below; they compare with the column `target`, or where there is none with the one that
 * `column_map` names.
 */
const Fields = {
  StringMatchScorer: z.looseObject({ column_map: ColumnMap }),
  LevenshteinScorer: z.looseObject({ column_map: ColumnMap }),
  ValidJSONScorer: z.looseObject({}),
  ExactMatchScorer: z.looseObject({ column_map: ColumnMap, ignore_case: z.boolean().nullish() }),
  ContainsScorer: z.looseObject({ column_map: ColumnMap, ignore_case: z.boolean().nullish() }),
  RegexScorer: z.looseObject({ pattern: z.string(), ignore_case: z.boolean().nullish() }),
  JSONSchemaScorer: z.looseObject({ json_schema: z.looseObject({}) }),
  NumericScorer: z.looseObject({ column_map: ColumnMap, tolerance: z.number().nonnegative().nullish() }),
  SimilarityScorer: z.looseObject({ column_map: ColumnMap }),
}
type ClassName = keyof typeof Fields

/** The rules of each class, from its fields. The first three mean what the Python client's classes of that name do. */
const RULES: { [Name in ClassName]: (fields: z.output<(typeof Fields)[Name]>) => Rule } = {
  StringMatchScorer:
    ({ column_map }) =>
    (scored) => ({
      string_in_input: targetText(scored, column_map)
        .toLowerCase()
        .includes(outputText(scored).toLowerCase()),
    }),
  LevenshteinScorer:
    ({ column_map }) =>
    (scored) => ({
      levenshtein_distance: bounded(outputText(scored), targetText(scored, column_map), distance),
    }),
  ValidJSONScorer: () => (scored) => ({ json_valid: parsed(outputText(scored)) !== undefined }),
  ExactMatchScorer:
    ({ column_map, ignore_case }) =>
    (scored) => {
      const [output, target] = [shownText(scored.output), shownText(targetOf(scored, column_map))]
      return { match: folded(output, ignore_case) === folded(target, ignore_case) }
    },
  ContainsScorer:
    ({ column_map, ignore_case }) =>
    (scored) => {
      const [output, target] = [shownText(scored.output), shownText(targetOf(scored, column_map))]
      return { contains: folded(output, ignore_case).includes(folded(target, ignore_case)) }
    },
  RegexScorer: ({ pattern, ignore_case }) => {
    const expression = regexOf(pattern, ignore_case)
    return (scored) => ({ match: matches(expression, shownText(scored.output)) })
  },
  JSONSchemaScorer:
    ({ json_schema }) =>
    ({ output }) => {
      const value = typeof output === 'string' ? parsed(output) : { value: output }
      return {
        valid: value !== undefined && conforms(value.value, json_schema, 'JSONSchemaScorer: json_schema'),
      }
    },
  NumericScorer:
    ({ column_map, tolerance }) =>
    (scored) => {
      const [output, target] = [numberIn(scored.output), numberIn(targetOf(scored, column_map))]
      if (target === undefined) throw invalidRequest('The target is no number')
      const error = output === undefined ? null : Math.abs(output - target)
      return { error, within_tolerance: error !== null && error <= (tolerance ?? 0) }
    },
  SimilarityScorer:
    ({ column_map }) =>
    (scored) => {
      const [output, target] = [shownText(scored.output), shownText(targetOf(scored, column_map))]
      const longer = Math.max(output.length, target.length)
      return { similarity: longer === 0 ? 1 : 1 - bounded(output, target, distance) / longer }
    },
}

/**
 * Classes that only this server knows: a client's own class of the same name comes with code, and is not one of them.
 */
export const OWN_CLASSES: readonly string[] = [
  'ExactMatchScorer',
  'ContainsScorer',
  'RegexScorer',
  'JSONSchemaScorer',
  'NumericScorer',
  'SimilarityScorer',
]

/**
 * The function of a builtin scorer class; undefined for any other class. To make it takes little time, which is why the
 * thread that serves may do so; to apply it may take long.
 * @throws 400 for fields that the class does not take.
 */
export function builtinRule(className: string, value: unknown): Rule | undefined {
  if (!isClassName(className)) return undefined
  return ruleOf(className, value)
}

function isClassName(name: string): name is ClassName {
  return Object.hasOwn(Fields, name)
}

function ruleOf<Name extends ClassName>(className: Name, value: unknown): Rule {
  const fields = checked(Fields[className], value, className)
  // Both tables have the same names, which the type checker cannot follow through a generic index.
  return RULES[className](fields as never)
}

/** @throws 400 where the row has no such column. */
function targetOf({ inputs }: Compared, columnMap: Record<string, string> | null | undefined): unknown {
  const row = withMapped(inputs, columnMap)
  if (!Object.hasOwn(row, 'target'))
    throw invalidRequest(
      `There is no ${columnMap?.['target'] ?? 'target'} to compare with, only ${Object.keys(inputs).join(', ')}: column_map can name another`,
    )
  return row['target']
}

function targetText(scored: Compared, columnMap: Record<string, string> | null | undefined): string {
  const target = targetOf(scored, columnMap)
  if (typeof target !== 'string') throw invalidRequest('The target is no text')
  return target
}

function outputText({ output }: Compared): string {
  if (typeof output !== 'string') throw invalidRequest('The output is no text')
  return output
}

/** A text as it is, anything else as JSON. */
function shownText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

function folded(text: string, ignoreCase: boolean | null | undefined): string {
  return ignoreCase ? text.toLowerCase() : text
}

function bounded(output: string, target: string, compare: (a: string, b: string) => number): number {
  if (output.length > COMPARED_CHARS_MAX || target.length > COMPARED_CHARS_MAX)
    throw invalidRequest(`Texts of more than ${COMPARED_CHARS_MAX} characters are not compared`)
  return compare(output, target)
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const text = typeof value === 'string' ? value.trim() : ''
  const number = Number(text)
  return text === '' || Number.isNaN(number) ? undefined : number
}

function regexOf(pattern: string, ignoreCase: boolean | null | undefined): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? 'iu' : 'u')
  } catch (error) {
    throw invalidRequest(`RegexScorer: pattern: ${messageOf(error)}`)
  }
}

/** @throws 400 for an expression that takes too long. */
function matches(expression: RegExp, text: string): boolean {
  try {
    return Boolean(runInNewContext('expression.test(text)', { expression, text }, { timeout: REGEX_MS_MAX }))
  } catch {
    throw invalidRequest(`The pattern takes more than ${REGEX_MS_MAX} ms: ${expression.source.slice(0, 100)}`)
  }
}
