import { type EngineAbilities, requestIdOf, streamOf } from '../gateway/engine-fields.ts'
import type { Gateway } from '../gateway/service.ts'
import { withStructuredOutputs } from '../guided-fields.ts'
import { samplingPolicy } from '../sampling-policy.ts'
import type { Complete, Traced } from '../tracing/tracing.ts'
import { engineRequest, isRollout } from './engine-request.ts'
import type { ChatCompletionReq } from './wire.ts'

export interface ChatCompletionsDeps {
  gateway: Gateway
  abilities: EngineAbilities
  traced: Traced
}

/** The conversation endpoint of OpenAI's API, on any checkpoint. */
export interface ChatCompletions {
  /** @throws 404 for an unknown model, 429 beyond a limit, 503 without an engine, 400 for what the engine refuses. */
  create: Complete<ChatCompletionReq>
  /** The same as a call of its project, where tracing of completions is configured. */
  createTraced: Complete<ChatCompletionReq>
}

export function createChatCompletions({ gateway, abilities, traced }: ChatCompletionsDeps): ChatCompletions {
  const create: Complete<ChatCompletionReq> = async (given, context, listener) => {
    const req = withStructuredOutputs(given)
    const request_id = requestIdOf(req, context)
    return gateway.send(
      {
        path: '/v1/chat/completions',
        model: req.model,
        answers: req.n ?? 1,
        stream: streamOf(req),
        body: (engine) => engineRequest({ ...req, request_id }, engine, abilities),
        choiceMarks: ({ trained }) =>
          trained === undefined ? {} : { policy: samplingPolicy(req, trained.checkpoint.step) },
        replyFields: ({ trained }) =>
          isRollout(req, { isTrained: trained !== undefined })
            ? {
                promptIds: { isAsked: req.return_token_ids === true },
                dropsReasoning: req.include_reasoning === false,
              }
            : {},
        listener,
      },
      context,
    )
  }

  return { create, createTraced: traced('chat.completions.create', create) }
}
