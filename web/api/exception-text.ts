import type { Json } from './wire.ts'

/** What went wrong on one line, and the rest. */
export interface ExceptionText {
  line: string
  rest: string
}

/** Wire: clients send an exception as JSON with a type, a message and a traceback, or as plain text. */
export function exceptionText(exception: string): ExceptionText {
  const parsed = parse(exception)
  if (parsed === undefined) {
    const [line = '', ...rest] = exception.split('\n')
    return { line, rest: rest.join('\n') }
  }
  const { type, message, traceback } = parsed
  return {
    line: [type, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || exception,
    rest: typeof traceback === 'string' ? traceback : '',
  }
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
