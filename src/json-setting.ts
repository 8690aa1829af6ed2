import { readFileSync } from 'node:fs'
import { messageOf } from './errors.ts'

/**
 * The value of a setting that is JSON, or the path of a file that holds it. @throws Error that contains none of the
 * text, which may hold keys.
 */
export function jsonSetting(name: string, setting: string): unknown {
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

/** Errors in a setting, one line each. */
export function settingProblem(name: string, ...lines: string[]): Error {
  return settingProblems(lines.map((line) => [name, line]))
}

/** Errors in several settings: their names, and what is wrong. */
export function settingProblems(problems: readonly (readonly [name: string, line: string])[]): Error {
  return new Error(`Bad configuration:\n${problems.map(([name, line]) => `  ${name}: ${line}`).join('\n')}`)
}
