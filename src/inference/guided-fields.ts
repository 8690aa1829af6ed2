import type { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import type { samplingFields } from './sampling-wire.ts'

type SamplingReq = z.output<z.ZodObject<typeof samplingFields>>

/**
 * A request with the one field that the engine has for constraints. Wire: older clients write each kind as a field of
 * its own, which the engine would ignore in silence.
 * @throws 400 for both
 */
export function withStructuredOutputs<Req extends SamplingReq>(req: Req): Req {
  const { guided_json: json, guided_regex: regex, guided_choice: choice, guided_grammar: grammar } = req
  const given = { json, regex, choice, grammar }
  if (Object.values(given).every((constraint) => constraint == null)) return req
  if (req.structured_outputs != null)
    throw invalidRequest(
      'A request has either structured_outputs or one of the guided_ fields',
      'structured_outputs',
    )
  const translated = {
    guided_json: undefined,
    guided_regex: undefined,
    guided_choice: undefined,
    guided_grammar: undefined,
  }
  return { ...req, ...translated, structured_outputs: given }
}
