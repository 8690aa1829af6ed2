import { ClientError, invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { withoutNulls } from '../gateway/engine-fields.ts'
import type { Gateway } from '../gateway/service.ts'
import type { EmbeddingsReq } from './wire.ts'

/** Vectors of texts, where the model supports embeddings. */
export interface Embeddings {
  /** @throws 400 for a model without embeddings; 404, 429 and 503 as chat completions. */
  create(req: EmbeddingsReq, context: CallContext): Promise<RawReply>
}

export function createEmbeddings({ gateway }: { gateway: Gateway }): Embeddings {
  async function create({ user: _, ...req }: EmbeddingsReq, context: CallContext): Promise<RawReply> {
    try {
      return await gateway.send(
        {
          path: '/v1/embeddings',
          model: req.model,
          answers: 1,
          stream: 'none',
          body: ({ name }) => withoutNulls({ ...req, model: name }),
        },
        context,
      )
    } catch (error) {
      // Wire: an engine whose model makes no embeddings does not have the path.
      if (error instanceof ClientError && error.status === 404 && error.param === null)
        throw invalidRequest('This model makes no embeddings', 'model')
      throw error
    }
  }

  return { create }
}
