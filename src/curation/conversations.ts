import type { CallContext } from '../http/caller.ts'
import { isRecord } from '../json/is-record.ts'
import type { Calls } from '../trace/calls/service.ts'
import { forEachYielding } from '../yielding.ts'
import { type Candidate, valueAt } from './candidate.ts'
import { answerIn, type Conversation, chatOf, messagesIn } from './chat-shapes.ts'
import { type Below, llmBelow } from './llm-below.ts'
import type { Message } from './message-parts.ts'
import type { Messages } from './wire.ts'

/** A conversation, or the reason why a call makes none. */
export type Understood = { conversation: Conversation } | { reason: string }

/** Where conversations are searched for. */
interface Where {
  projectId: string
  context: CallContext
  /** The model calls of the conversations so far: the calls above one would make the same conversation again. */
  taken: Set<string>
}

/** Makes conversations of calls; a call that is not certain to be one is left out. */
export interface Conversations {
  /** In the order of the candidates. */
  of(
    candidates: readonly Candidate[],
    work: Where & { messages: Messages | undefined },
  ): Promise<Understood[]>
}

/** The payloads of a candidate as values. */
interface ReadCandidate {
  candidate: Candidate
  inputs: unknown
  output: unknown
  /** The conversation where it is a model's call. */
  chat: Conversation | undefined
}

export function createConversations({ calls }: { calls: Pick<Calls, 'list'> }): Conversations {
  /** A model's call itself, the one model's call below, or its input and output as texts. */
  async function foundOut(candidates: readonly Candidate[], where: Where): Promise<Understood[]> {
    const read: ReadCandidate[] = []
    await forEachYielding(candidates, (candidate) => {
      const inputs: unknown = JSON.parse(candidate.asked.inputs)
      const output: unknown = JSON.parse(candidate.asked.output)
      const chat = chatOf({ inputs, output, attributes: candidate.call.attributes.value() })
      read.push({ candidate, inputs, output, chat })
    })
    const open = read.filter(({ candidate, chat }) => chat === undefined && candidate.mayLookBelow)
    const below = await llmBelow(
      calls,
      where,
      open.map(({ candidate }) => candidate.call),
    )
    return read.map(({ candidate, inputs, output, chat }): Understood => {
      const { id } = candidate.call
      const llm: Below = chat === undefined ? below.get(id) : { id, conversation: chat }
      if (llm === 'several')
        return { reason: 'has several calls of models below it: say with messages what to take' }
      if (llm === undefined) return textInTextOut(inputs, output)
      if (where.taken.has(llm.id)) return { reason: 'has the same model call as another' }
      where.taken.add(llm.id)
      return withOneAnswer(llm.conversation, chat === undefined ? output : undefined)
    })
  }

  async function of(
    candidates: readonly Candidate[],
    { messages, ...where }: Where & { messages: Messages | undefined },
  ): Promise<Understood[]> {
    if (messages === undefined) return foundOut(candidates, where)
    const all: Understood[] = []
    await forEachYielding(candidates, (candidate) => all.push(atPaths(candidate, messages)))
    return all
  }

  return { of }
}

function atPaths(candidate: Candidate, { prompt, answer, system }: Messages): Understood {
  const asked = valueAt(candidate, prompt)
  const output = valueAt(candidate, answer)
  if (asked === undefined) return { reason: `has nothing at ${prompt}` }
  if (output === undefined) return { reason: `has nothing at ${answer}` }
  const conversation = conversationOf(asked, output)
  if (conversation === undefined)
    return { reason: `has neither texts nor messages at ${prompt} and ${answer}` }
  const first: Message[] = system == null ? [] : [{ role: 'system', content: system }]
  return withOneAnswer({ ...conversation, prompt: [...first, ...conversation.prompt] })
}

/** Of several answers to one request, the one that the call above it returned: another was not judged. */
function withOneAnswer(conversation: Conversation, returned?: unknown): Understood {
  if (conversation.others.length === 0) return { conversation }
  if (returned === undefined)
    return { reason: 'has several answers: say with messages which to take, such as output.choices.0' }
  const text = typeof returned === 'string' ? returned : answerIn(returned)?.answer['content']
  const found = [conversation, ...conversation.others].find(({ answer }) => answer['content'] === text)
  if (found === undefined || text === '')
    return { reason: 'has several answers of a model below it, and returned none of them' }
  const { answer, choice, isCutOff } = found
  return { conversation: { ...conversation, answer, choice, isCutOff, others: [] } }
}

/** One text, or one list of messages, among the inputs; numbers and booleans beside it do not count. */
function textInTextOut(inputs: unknown, output: unknown): Understood {
  const { self: _, ...given } = isRecord(inputs) ? inputs : { self: undefined }
  const [asked, ...others] = Object.values(given).filter(
    (value) => typeof value === 'string' || isObject(value),
  )
  if (asked === undefined) return { reason: 'has no text among its inputs' }
  if (others.length > 0 && isRecord(inputs) && messagesIn(inputs['messages']) && typeof output !== 'string')
    return { reason: 'asks a model, but its output is no answer: say with messages what to take' }
  if (others.length > 0) return { reason: 'has several inputs: say with messages what to take' }
  const conversation = conversationOf(asked, output)
  return conversation === undefined
    ? { reason: 'is no conversation: neither one text in and one text out, nor messages' }
    : withOneAnswer(conversation)
}

function conversationOf(asked: unknown, output: unknown): Conversation | undefined {
  const prompt = typeof asked === 'string' ? [{ role: 'user', content: asked }] : messagesIn(asked)
  const answer =
    typeof output === 'string'
      ? { answer: { role: 'assistant', content: output }, choice: undefined, isCutOff: false, others: [] }
      : answerIn(output)
  return prompt && answer && { prompt, ...answer, tools: undefined }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
