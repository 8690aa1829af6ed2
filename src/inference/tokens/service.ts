import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { withoutNulls } from '../gateway/engine-fields.ts'
import type { Gateway } from '../gateway/service.ts'
import type { DetokenizeReq, TokenizeReq } from './wire.ts'

export type Tokens = ReturnType<typeof createTokens>

/** What a model's tokenizer makes of a text or a conversation, and back. */
export function createTokens({ gateway }: { gateway: Gateway }) {
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
    /** @throws 404 for an unknown model, 503 without an engine, 400 for what the engine refuses. */
    tokenize: (req: TokenizeReq, context: CallContext) => passOn('/tokenize', req, context),
    /** @throws as above. */
    detokenize: (req: DetokenizeReq, context: CallContext) => passOn('/detokenize', req, context),
  }
}
