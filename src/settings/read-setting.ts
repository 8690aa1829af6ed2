import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { messageOf } from '../errors.ts'
import { badSettings, settingProblem } from './setting-problems.ts'

/** The values of the variables that a schema names. @throws Error with all that is wrong, without what they hold */
export function variableSettings<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
): z.output<Schema> {
  const parsed = schema.safeParse(env)
  if (parsed.success) return parsed.data
  throw badSettings(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]))
}

/**
 * The value of a setting that is JSON, or the path of a file that holds it; that of `{}` where it is not set.
 * @throws Error with all that is wrong, which contains none of the text: it may hold keys
 */
export function jsonSetting<Schema extends z.ZodType>(
  name: string,
  setting: string | undefined,
  schema: Schema,
): z.output<Schema> {
  const text = setting?.trim()
  const parsed = schema.safeParse(text ? jsonOf(name, text) : {})
  if (parsed.success) return parsed.data
  throw settingProblem(
    name,
    ...parsed.error.issues.map(({ path, message }) =>
      path.length === 0 ? message : `${path.join('.')}: ${message}`,
    ),
  )
}

function jsonOf(name: string, setting: string): unknown {
  const isInline = setting.startsWith('{')
  const where = isInline ? 'the text' : setting
  try {
    return JSON.parse(isInline ? setting : readFileSync(setting, 'utf8'))
  } catch (error) {
    throw settingProblem(name, error instanceof SyntaxError ? `${where} is not JSON` : messageOf(error))
  }
}

/** The text of a file that a setting names, without space around it. @throws Error that contains none of the text. */
export function textSetting(name: string, path: string, { charsMin }: { charsMin: number }): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw settingProblem(name, messageOf(error))
  }
  if (text.length < charsMin) throw settingProblem(name, `${path} has less than ${charsMin} characters`)
  return text
}
