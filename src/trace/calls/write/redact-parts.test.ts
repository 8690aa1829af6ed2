import { expect, it } from 'vitest'
import type { Redactor } from '../../../redaction/service.ts'
import type { CallPart } from './parts.ts'
import { redactedParts } from './redact-parts.ts'

it('takes as many parts as a body may have, more than a call of a function has arguments', async () => {
  const parts = Array.from({ length: 200_000 }, (_, index) => ({
    project_id: 'a/b',
    id: String(index),
    thread_id: index === 7 ? 'secret' : '',
  })) as unknown as CallPart[]
  const redactor = {
    redact: async (fields) => fields.map(({ text }) => text.replace('secret', '[redacted]')),
  } as Redactor
  const redacted = await redactedParts(parts, { of: async () => redactor })
  expect(redacted).toHaveLength(parts.length)
  expect(redacted[7]).toMatchObject({ id: '7', thread_id: '[redacted]' })
})
