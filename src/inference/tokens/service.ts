import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { withoutNulls } from '../gateway/engine-fields.ts'
import type { Gateway } from '../gateway/service.ts'
import type { DetokenizeReq, TokenizeReq } from './wire.ts'

/** What a model's tokenizer makes of a text or a conversation, and back. */
export interface Tokens {
  /** @throws 404 for an unknown model, 503 without an engine, 400 for what the engine refuses. */
  tokenize(req: TokenizeReq, context: CallContext): Promise<RawReply>
  /** @throws as above. */
  detokenize(req: DetokenizeReq, context: CallContext): Promise<RawReply>
}

export function createTokens({ gateway }: { gateway: Gateway }): Tokens {
  const passOn = (path: string, req: TokenizeReq | DetokenizeReq, context: CallContext): Promise<RawReply> =>
    gateway.send(
      {
        path,
        model: req.model,
        answers: 1,
        stream: 'none',
        body: ({ name }) => withoutNulls({ ...req, model: name }),
      },
      context,
    )

  return {
    tokenize: (req, context) => passOn('/tokenize', req, context),
    detokenize: (req, context) => passOn('/detokenize', req, context),
  }
}
