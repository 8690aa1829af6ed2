import { z } from 'zod'
import { placeOf, requireRight } from '../../access.ts'
import { ClientError, invalidRequest, tooManyRequests } from '../../errors.ts'
import { createSharedSlots } from '../../fairness/shared-slots.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { parseKeeping } from '../../json/lossless-json.ts'
import { DEFAULT_PROVIDER } from '../../settings/providers.ts'
import { keepShapeOf } from '../../wire/body-shape.ts'
import { parseLax } from '../../wire/lax-parse.ts'
import type { ChatCompletions } from '../chat-completions/service.ts'
import { ChatCompletionReq } from '../chat-completions/wire.ts'
import { withoutNulls } from '../gateway/engine-fields.ts'
import type { StreamEnd } from '../gateway/event-stream.ts'
import { projectNamed } from '../gateway/project-header.ts'
import type { UsageRecorder } from '../gateway/spending.ts'
import type { FoundProvider, ProviderRegistry } from '../providers/service.ts'
import { BadAnswer } from './answer-errors.ts'
import { askProvider, type ProviderRequest } from './ask-provider.ts'
import type { Deadline } from './deadline.ts'
import { counted, usageIn } from './provider-usage.ts'
import { readAnswer, wholeText } from './read-answer.ts'
import type { CompletionInputs, ImageCreateReq } from './wire.ts'

export interface AnswererDeps {
  chat: Pick<ChatCompletions, 'create'>
  /** Resolves for a name that this server serves. @throws 404 for any other. */
  resolveModel: (model: string, caller: Caller) => Promise<unknown>
  providers: Pick<ProviderRegistry, 'find'>
  /** Counts what providers are asked for. */
  usage: UsageRecorder
}

/** The caller, and the project of the request. */
export interface Asker {
  context: CallContext
  project_id: string
}

/** Answers in progress at a time, each held in memory; interactive use needs far fewer. */
const ASKED_MAX = 256

/** The body of an answer, and what counts it at its end. */
interface Asked {
  body: RawReply['body']
  count: (end: StreamEnd) => void
}

const CHAT_SHAPE = keepShapeOf(ChatCompletionReq)

const Completion = z.looseObject({ choices: z.array(z.looseObject({})) })
const Images = z.looseObject({ data: z.array(z.looseObject({})) })

/** Fields that would change how a provider is called. */
const SERVER_FIELDS = ['extra_headers', 'api_version', 'vertex_credentials'] as const

/** Answers with a model of this server, or with one of a configured provider. */
export interface Answerer {
  /**
   * A slot for a question and its answer, to be taken before either is made and disposed of when the answer is there.
   * @throws 429 when too many are taken, or too many by the entity
   */
  enter(asker: Asker): Disposable
  /** The JSON of a whole completion. @throws ClientError with what went wrong. */
  completion(inputs: CompletionInputs, asker: Asker, how: Asking): Promise<string>
  /** The bytes of a completion's event stream. @throws ClientError with what went wrong before the first. */
  stream(inputs: CompletionInputs, asker: Asker, deadline: Deadline): Promise<AsyncIterable<Uint8Array>>
  /** The JSON of a provider's images. @throws as above. */
  images(inputs: ImageCreateReq['inputs'], asker: Asker, deadline: Deadline): Promise<string>
}

/** How a model is asked: until when, and how often again where its provider fails. */
type Asking = { deadline: Deadline } & Pick<ProviderRequest, 'retries'>

interface Found {
  provider: FoundProvider
  model: string
}

export function createAnswerer({ chat, resolveModel, providers, usage }: AnswererDeps): Answerer {
  const slots = createSharedSlots(ASKED_MAX)

  function enter({ project_id, context }: Asker): Disposable {
    const entity = projectNamed(project_id)?.entity ?? context.caller.defaultEntity
    const leave = slots.take(entity)
    if (leave !== undefined) return { [Symbol.dispose]: leave }
    const held = `${slots.taken()} answers are being waited for already, ${slots.heldBy(entity)} of them by ${entity}`
    throw tooManyRequests(`${held}: the server waits for ${ASKED_MAX}, and keeps some slots for others`, 2)
  }

  async function isServed(model: string, caller: Caller): Promise<boolean> {
    try {
      await resolveModel(model, caller)
      return true
    } catch (error) {
      if (error instanceof ClientError && error.status === 404) return false
      throw error
    }
  }

  /**
   * The provider of a model name, and the provider's own name for it. @throws 400 that says how to configure one; 403
   * for who may not ask models any more: work goes on when its request has ended
   */
  async function providerOf(text: string, { project_id, context }: Asker): Promise<Found> {
    requireRight(context.caller.rights, 'infer', placeOf(project_id))
    const { name, model } = splitName(text)
    const provider = await providers.find(projectNamed(project_id)?.entity, name)
    if (provider === undefined) throw unknownModel(text, name)
    return { provider, model }
  }

  async function ask(
    inputs: CompletionInputs,
    { reply, asker, deadline, retries }: { reply: 'whole' | 'stream'; asker: Asker } & Asking,
  ): Promise<Asked> {
    const body = { ...bodyOf(inputs), ...(reply === 'stream' && STREAMED) }
    const { context, project_id } = asker
    if (await isServed(inputs.model, context.caller)) {
      const project = projectNamed(project_id)
      const its = { ...context, signal: deadline.signal, bodyBytes: bytesOf(body) }
      const own = await chat.create(chatRequest(body), its, project && { project })
      // The gateway counts it.
      return { body: own.body, count: () => {} }
    }
    const { provider, model } = await providerOf(inputs.model, asker)
    const count = await admit({ provider, model, body }, asker)
    const request = { path: '/chat/completions' as const, body: { ...body, model }, deadline, retries }
    const asking = askProvider(provider, request)
    return { body: await countedIfCut(asking, { count, deadline }), count }
  }

  /** What counts an answer of a provider at its end. @throws 402 where a budget is spent */
  async function admit(
    { provider, model, body }: { provider: FoundProvider; model: string; body: object },
    { context, project_id }: Asker,
  ): Promise<(end: StreamEnd) => void> {
    const project = projectNamed(project_id)
    const { keyId, defaultEntity } = context.caller
    const spender = { keyId, entity: project?.entity ?? defaultEntity, project }
    await usage.admit(spender, context)
    const bytes = bytesOf(body)
    return (end) => {
      usage.record({ ...spender, model: `${provider.name}/${model}`, baseModel: model, bytes, ...end })
      usage.show(spender, context)
    }
  }

  async function completion(inputs: CompletionInputs, asker: Asker, how: Asking): Promise<string> {
    const { body, count } = await ask(inputs, { reply: 'whole', asker, ...how })
    const json = await countedIfCut(wholeText(body), { count, deadline: how.deadline })
    readAnswer(json, Completion)
    count({ usage: usageIn(json), events: 0 })
    return json.trim()
  }

  async function stream(
    inputs: CompletionInputs,
    asker: Asker,
    deadline: Deadline,
  ): Promise<AsyncIterable<Uint8Array>> {
    const { body, count } = await ask(inputs, { reply: 'stream', asker, deadline, retries: 'few' })
    if (body instanceof ReadableStream) return counted(body, count)
    throw new BadAnswer('The model answered something that is not a stream')
  }

  async function images(inputs: ImageCreateReq['inputs'], asker: Asker, deadline: Deadline): Promise<string> {
    if (await isServed(inputs.model, asker.context.caller))
      throw invalidRequest(`${inputs.model} makes no images: name a model of a provider`)
    const { provider, model } = await providerOf(inputs.model, asker)
    const body = { ...withoutNulls(inputs), model }
    const count = await admit({ provider, model, body }, asker)
    const asking = askProvider(provider, { path: '/images/generations', body, deadline, retries: 'few' })
    const json = await countedIfCut(asking.then(wholeText), { count, deadline })
    readAnswer(json, Images)
    count({ usage: usageIn(json), events: 0 })
    return json.trim()
  }

  return { enter, completion, stream, images }
}

/** Counts a request also where its client or its time limit ends it: the provider may have computed the answer. */
async function countedIfCut<Result>(
  asked: Promise<Result>,
  { count, deadline }: { count: (end: StreamEnd) => void; deadline: Deadline },
): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    if (deadline.signal.aborted) count({ usage: undefined, events: 0 })
    throw error
  }
}

/** `custom::PROVIDER::MODEL`, `PROVIDER/MODEL`, or the name alone of a model of the default provider. */
function splitName(text: string): { name: string; model: string } {
  const [, custom, customModel = ''] = /^custom::([^:]+)::(.+)$/.exec(text) ?? []
  if (custom !== undefined) return { name: custom, model: customModel }
  const slash = text.indexOf('/')
  return { name: slash === -1 ? DEFAULT_PROVIDER : text.slice(0, slash), model: text.slice(slash + 1) }
}

function bytesOf(body: object): number {
  return Buffer.byteLength(JSON.stringify(body))
}

const STREAMED = { stream: true, stream_options: { include_usage: true } }

/** The request to the model. @throws 400 for fields that the server sets. */
function bodyOf(inputs: CompletionInputs): Record<string, unknown> {
  for (const name of SERVER_FIELDS) {
    if (inputs[name] != null) throw invalidRequest(`${name} is not taken: HEDDLE_PROVIDERS says how to call`)
  }
  const { timeout: _, stream: __, ...body } = inputs
  return withoutNulls(body)
}

/** @throws 400 in words that name the field at fault. */
function chatRequest(body: object): ChatCompletionReq {
  const parsed = parseLax(ChatCompletionReq, parseKeeping(JSON.stringify(body), CHAT_SHAPE))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalidRequest(`${issue?.path.join('.')}: ${issue?.message}`)
}

function unknownModel(model: string, provider: string): ClientError {
  const example = `{"${provider}": {"base_url": "https://…/v1", "api_key_env": "…"}}`
  const openAi = provider === DEFAULT_PROVIDER ? 'set OPENAI_API_KEY, or ' : ''
  return invalidRequest(
    `No model ${model} here, and no provider ${provider}. To add one, ${openAi}start the server with HEDDLE_PROVIDERS='${example}'; a team's admin can add one of the team, too`,
    'model',
  )
}
