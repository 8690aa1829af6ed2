import {
  type EngineAbilities,
  engineFields,
  requestIdOf,
  streamOf,
  withoutNulls,
} from '../gateway/engine-fields.ts'
import type { Gateway } from '../gateway/service.ts'
import { withStructuredOutputs } from '../guided-fields.ts'
import { promptCount } from '../prompt-wire.ts'
import { samplingPolicy } from '../sampling-policy.ts'
import type { Complete, Traced } from '../tracing/tracing.ts'
import type { CompletionReq } from './wire.ts'

export interface CompletionsDeps {
  gateway: Gateway
  abilities: EngineAbilities
  traced: Traced
}

/** OpenAI's older endpoint: a text is continued, without a conversation. */
export interface Completions {
  /** A call of its project, where tracing of completions is configured. @throws as chat completions. */
  createTraced: Complete<CompletionReq>
}

export function createCompletions({ gateway, abilities, traced }: CompletionsDeps): Completions {
  const create: Complete<CompletionReq> = async (given, context, listener) => {
    const req = withStructuredOutputs(given)
    const request_id = requestIdOf(req, context)
    return gateway.send(
      {
        path: '/v1/completions',
        model: req.model,
        answers: (req.n ?? 1) * promptCount(req.prompt),
        stream: streamOf(req),
        body: (engine) => withoutNulls(engineFields({ ...req, request_id }, engine, abilities)),
        choiceMarks: ({ trained }) =>
          trained === undefined ? {} : { policy: samplingPolicy(req, trained.checkpoint.step) },
        listener,
      },
      context,
    )
  }

  return { createTraced: traced('completions.create', create) }
}
