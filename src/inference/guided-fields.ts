import type { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import type { samplingFields } from './sampling-wire.ts'

type SamplingReq = z.output<z.ZodObject<typeof samplingFields>>

/** Members of `structured_outputs` by the older names that stand for them. */
const NEWER_NAMES = {
  guided_json: 'json',
  guided_regex: 'regex',
  guided_choice: 'choice',
  guided_grammar: 'grammar',
  guided_whitespace_pattern: 'whitespace_pattern',
  guided_decoding_backend: '_backend',
} as const
type OlderName = keyof typeof NEWER_NAMES

/**
 * A request with the one field that the engine has for constraints. Wire: older clients write each kind as a field of its own, which the
 * engine would ignore in silence.
 * @throws 400 for both
 */
export function withStructuredOutputs<Req extends SamplingReq>(req: Req): Req {
  const given = Object.entries(NEWER_NAMES).filter(([older]) => req[older as OlderName] != null)
  if (given.length === 0) return req
  if (req.structured_outputs != null)
    throw invalidRequest(
      'A request has either structured_outputs or one of the guided_ fields',
      'structured_outputs',
    )
  const structured_outputs = Object.fromEntries(
    given.map(([older, newer]) => [newer, req[older as OlderName]]),
  )
  const without = Object.fromEntries(given.map(([older]) => [older, undefined]))
  return { ...req, ...without, structured_outputs }
}
