import { type EngineAbilities, wantsUsage } from '../gateway/engine-fields.ts'
import type { Gateway } from '../gateway/service.ts'
import { engineRequest } from './engine-request.ts'
import { samplingPolicy } from './sampling-policy.ts'
import type { Complete } from './tracing.ts'

export type ChatCompletions = ReturnType<typeof createChatCompletions>

export interface ChatCompletionsDeps {
  gateway: Gateway
  abilities: EngineAbilities
  /** Absent where completions are not traced. */
  traced: ((complete: Complete) => Complete) | undefined
}

/** The conversation endpoint of OpenAI's API, on any checkpoint. */
export function createChatCompletions({ gateway, abilities, traced }: ChatCompletionsDeps) {
  const create: Complete = (req, context, onUsage) => {
    const request_id = context.header('x-request-id') ?? req.request_id
    return gateway.send(
      {
        path: '/v1/chat/completions',
        model: req.model,
        stream: req.stream !== true ? 'none' : wantsUsage(req) ? 'with-usage' : 'without-usage',
        body: (engine) => engineRequest({ ...req, request_id }, engine, abilities),
        choiceMarks: ({ trained }) =>
          trained === undefined ? {} : { policy: samplingPolicy(req, trained.checkpoint.step) },
        ...(onUsage && { onUsage }),
      },
      context,
    )
  }

  return {
    /** @throws 404 for an unknown model, 429 beyond a limit, 503 without an engine, 400 for what the engine refuses. */
    create,

    /** The same as a call of its project, where the server is told to keep them. */
    createTraced: traced?.(create) ?? create,
  }
}
