import { objectOf } from './json.ts'
import type { Json } from './wire.ts'

/** One call on the stack when an exception was raised. */
export interface Frame {
  file: string
  /** From 1; undefined where the client did not send it. */
  line: number | undefined
  /** The function. */
  name: string
  /** The source line; empty where the client did not send it. */
  code: string
}

/** The error on one line, and where it was raised. */
export interface ExceptionText {
  line: string
  /** The stack as text; empty where there is none, or where it came as frames. */
  rest: string
  /** The outermost call first. */
  frames: readonly Frame[]
}

/**
 * Wire: weave sends an exception as JSON with a type, a message and a traceback, which is a list of frames with
 * `filename`, `line_number`, `function_name` and `text`; others send the traceback as text, or all of it as plain text.
 */
export function exceptionText(exception: string): ExceptionText {
  const parsed = parse(exception)
  if (parsed === undefined) {
    const [line = '', ...rest] = exception.split('\n')
    return { line, rest: rest.join('\n'), frames: [] }
  }
  const { type, message, traceback } = parsed
  return {
    line: [type, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || exception,
    rest: typeof traceback === 'string' ? traceback : '',
    frames: Array.isArray(traceback) ? traceback.map(frameOf) : [],
  }
}

/** The frames as Python prints them. */
export function framesText(frames: readonly Frame[]): string {
  const lines = frames.flatMap(({ file, line, name, code }) => [
    `  File "${file}"${line === undefined ? '' : `, line ${line}`}, in ${name}`,
    ...(code === '' ? [] : [`    ${code}`]),
  ])
  return ['Traceback (most recent call last):', ...lines].join('\n')
}

function frameOf(value: Json): Frame {
  const { filename, line_number, function_name, text } = objectOf(value)
  return {
    file: textOf(filename),
    line: typeof line_number === 'number' ? line_number : undefined,
    name: textOf(function_name),
    code: textOf(text).trim(),
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function parse(text: string): { [key: string]: Json | undefined } | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value = JSON.parse(text) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
