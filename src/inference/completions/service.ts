import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { type EngineAbilities, engineFields, wantsUsage, withoutNulls } from '../gateway/engine-fields.ts'
import type { Gateway } from '../gateway/service.ts'
import type { CompletionReq } from './wire.ts'

export type Completions = ReturnType<typeof createCompletions>

export interface CompletionsDeps {
  gateway: Gateway
  abilities: EngineAbilities
}

/** OpenAI's older endpoint: a text goes on, without a conversation around it. */
export function createCompletions({ gateway, abilities }: CompletionsDeps) {
  return {
    /** @throws as chat completions. */
    create(req: CompletionReq, context: CallContext): Promise<RawReply> {
      const request_id = context.header('x-request-id') ?? req.request_id
      return gateway.send(
        {
          path: '/v1/completions',
          model: req.model,
          stream: req.stream !== true ? 'none' : wantsUsage(req) ? 'with-usage' : 'without-usage',
          body: (engine) => withoutNulls(engineFields({ ...req, request_id }, engine, abilities)),
        },
        context,
      )
    },
  }
}
