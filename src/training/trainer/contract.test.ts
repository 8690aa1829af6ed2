import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WorkerMessage, WorkerRequest } from './contract-wire.ts'

const EXAMPLES_FOLDER = join(import.meta.dirname, '../../../contract/examples')
const examples = readdirSync(EXAMPLES_FOLDER).map((name) => ({
  name: name.replace('.json', ''),
  value: JSON.parse(readFileSync(join(EXAMPLES_FOLDER, name), 'utf8')) as Record<string, unknown>,
}))
const kindsOf = (union: typeof WorkerRequest | typeof WorkerMessage) =>
  union.options.map((option) => option.shape.kind.value)

describe('the job contract', () => {
  it('has one example for every kind of message', () => {
    const kinds = [...kindsOf(WorkerRequest), ...kindsOf(WorkerMessage)]
    expect(examples.map((example) => example.name)).toEqual(kinds.sort())
  })

  it.each(examples)('parses $name and refuses unknown fields', ({ value }) => {
    const union = kindsOf(WorkerRequest).some((kind) => kind === value['kind'])
      ? WorkerRequest
      : WorkerMessage
    expect(union.parse(value)).toEqual(value)
    expect(union.safeParse({ ...value, unknown: 1 }).success).toBe(false)
  })
})
