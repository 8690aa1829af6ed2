/** One sampling parameter of the chat API. */
export interface Parameter {
  name: string
  /** What it does, in a few words. */
  about: string
  kind: 'number' | 'integer' | 'flag' | 'lines' | 'choice'
  choices?: readonly string[]
}

/** The parameters with a field of their own; any other one can be written as JSON. */
export const PARAMETERS: readonly Parameter[] = [
  { name: 'temperature', kind: 'number', about: '0 always takes the likeliest token, 1 samples as trained' },
  { name: 'max_tokens', kind: 'integer', about: 'Where an answer is cut off' },
  { name: 'top_p', kind: 'number', about: 'Samples from the likeliest tokens that make up this share' },
  { name: 'top_k', kind: 'integer', about: 'Samples from so many likeliest tokens' },
  { name: 'min_p', kind: 'number', about: 'Drops tokens below this share of the likeliest' },
  { name: 'seed', kind: 'integer', about: 'The same seed gives the same answer' },
  { name: 'frequency_penalty', kind: 'number', about: 'Against tokens, the more often they came' },
  { name: 'presence_penalty', kind: 'number', about: 'Against tokens that came at all' },
  { name: 'repetition_penalty', kind: 'number', about: 'Above 1 against what was in prompt and answer' },
  { name: 'min_tokens', kind: 'integer', about: 'No end before so many tokens' },
  { name: 'stop', kind: 'lines', about: 'Texts that end the answer, one a line' },
  { name: 'bad_words', kind: 'lines', about: 'Texts that never come, one a line' },
  { name: 'ignore_eos', kind: 'flag', about: 'Goes on past the end of the answer' },
  { name: 'skip_special_tokens', kind: 'flag', about: 'Hides special tokens, as by default' },
  {
    name: 'reasoning_effort',
    kind: 'choice',
    choices: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    about: 'For models that think first',
  },
  {
    name: 'tool_choice',
    kind: 'choice',
    choices: ['auto', 'none', 'required'],
    about: 'Whether tools are called',
  },
  { name: 'parallel_tool_calls', kind: 'flag', about: 'Whether several tools may be called at once' },
]

/** The value of one written parameter. @throws Error in words for a person. */
export function parameterValue({ name, kind }: Parameter, text: string): unknown {
  if (kind === 'lines') return text.split('\n').filter((line) => line !== '')
  if (kind === 'flag') return text === 'true'
  if (kind === 'choice') return text
  const value = Number(text)
  if (!Number.isFinite(value) || (kind === 'integer' && !Number.isInteger(value)))
    throw new Error(`${name} is not ${kind === 'integer' ? 'a whole number' : 'a number'}`)
  return value
}

/** How a value of a request is written in the field of its parameter; undefined where no field can hold it. */
export function writtenOf({ kind, choices }: Parameter, value: unknown): string | undefined {
  if (kind === 'flag') return typeof value === 'boolean' ? String(value) : undefined
  if (kind === 'choice') return typeof value === 'string' && choices?.includes(value) ? value : undefined
  if (kind === 'lines') {
    const lines = typeof value === 'string' ? [value] : value
    const isText =
      Array.isArray(lines) && lines.every((line) => typeof line === 'string' && !line.includes('\n'))
    return isText ? lines.join('\n') : undefined
  }
  return typeof value === 'number' && (kind === 'number' || Number.isInteger(value))
    ? String(value)
    : undefined
}
