import { unavailable } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { type InferenceProcess, PartLost } from '../../stores/compute/port.ts'
import { type BaseModels, stillStarting } from '../../training/base-models/service.ts'
import { engineError, marked, type ReplyMarks, readText } from './engine-reply.ts'
import { engineRequest } from './engine-request.ts'
import { relayEvents } from './event-stream.ts'
import type { AdapterUse, LoadedAdapters } from './loaded-adapters.ts'
import { samplingPolicy } from './sampling-policy.ts'
import type { ServedModels, Target } from './served-models.ts'
import type { ChatCompletionReq } from './wire.ts'

/** A request waits this long for an engine that is starting: about four starts of the small model on two cores. */
const HOLD_MS_MAX = 120_000

/** Requests that are being answered or wait for it; further ones are told to come back. */
const IN_FLIGHT_MAX = 2_048

export type ChatCompletions = ReturnType<typeof createChatCompletions>

export interface ChatCompletionsDeps {
  served: ServedModels
  loaded: LoadedAdapters
  baseModels: BaseModels
}

/** The OpenAI-shaped door in front of the inference engine. */
export function createChatCompletions({ served, loaded, baseModels }: ChatCompletionsDeps) {
  let inFlight = 0

  /** The process and the adapter in it that answer for a target; undefined stands for the bare base model. */
  async function engage(target: Target, signal: AbortSignal) {
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(HOLD_MS_MAX)])
    try {
      const process = await baseModels.inference(target.baseModel).ready(waiting)
      const adapter = target.checkpoint ?? (await adapterOfBase(target.baseModel, waiting))
      return { process, use: adapter && (await loaded.use(process, adapter)) }
    } catch (error) {
      signal.throwIfAborted()
      throw waiting.aborted ? stillStarting(target.baseModel) : error
    }
  }

  /**
   * On a CPU the engine answers a base request that shares a batch with an adapter's with that adapter's weights.
   * An adapter that changes nothing has no such trouble.
   */
  async function adapterOfBase(baseModel: string, signal: AbortSignal) {
    return baseModels.accelerator === 'cpu' ? baseModels.neutralAdapter(baseModel, signal) : undefined
  }

  return {
    /** Makes a first token, which takes seconds with a first adapter, before anybody waits for it. */
    async warmUp(baseModel: string): Promise<void> {
      if (!baseModels.isAvailable()) return
      const { process, use } = await engage(
        { baseModel, checkpoint: undefined },
        new AbortController().signal,
      )
      const model = use?.name ?? baseModel
      const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }
      await readText(
        await process.post('/v1/chat/completions', JSON.stringify(body), new AbortController().signal),
      )
      use?.release()
    },

    list: (_input: object, { caller }: CallContext) => served.list(caller),

    /** @throws 404 for an unknown model, 503 without an engine, 400 for what the engine refuses. */
    async create(req: ChatCompletionReq, context: CallContext): Promise<RawReply> {
      baseModels.assertAvailable()
      if (inFlight >= IN_FLIGHT_MAX) throw unavailable('Too many completions are being made', 2)
      inFlight++
      const client = new AbortController()
      const signal = AbortSignal.any([context.signal, client.signal])
      let use: AdapterUse | undefined
      let open = true
      function finish(): void {
        if (!open) return
        open = false
        inFlight--
        use?.release()
        client.abort()
      }
      try {
        const target = await served.resolve(req.model, context.caller)
        const model = req.model ?? target.baseModel
        return await untilSent(async () => {
          use?.release()
          use = undefined
          const engaged = await engage(target, signal)
          use = engaged.use
          const engineModel = use?.name ?? target.baseModel
          const body = engineRequest(req, { model: engineModel, isTrained: target.checkpoint !== undefined })
          const policy = target.checkpoint && samplingPolicy(req, target.checkpoint.step)
          return complete(engaged.process, body, { reply: { model, policy }, signal, finish })
        })
      } catch (error) {
        finish()
        throw error
      }
    },
  }
}

/** A request that no process has seen goes to the next one, which `attempt` waits for. */
async function untilSent<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof PartLost) || error.request !== 'unsent') throw error
    }
  }
}

async function complete(
  process: InferenceProcess,
  body: Record<string, unknown>,
  options: { reply: ReplyMarks; signal: AbortSignal; finish: () => void },
): Promise<RawReply> {
  const { signal, finish } = options
  const reply = await process.post('/v1/chat/completions', JSON.stringify(body), signal)
  if (reply.status !== 200) throw engineError(reply.status, await readText(reply))
  if (body['stream'] === true) {
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
    return { headers, body: relayEvents(reply.body, { marks: options.reply, onEnd: finish }) }
  }
  const text = await readText(reply)
  finish()
  return { headers: { 'content-type': 'application/json' }, body: marked(text, options.reply) }
}
