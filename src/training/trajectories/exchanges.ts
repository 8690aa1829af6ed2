import { isRecord } from '../../is-record.ts'
import { JsonNumber, type LosslessJson, stringify } from '../../lossless-json.ts'
import { type Answer, type Asked, askedOf } from './exchange-protocols.ts'

type Json = { [key: string]: LosslessJson }

/** One conversation of a trajectory. */
export interface History {
  messages_and_choices: LosslessJson[]
  tools: LosslessJson
}

interface Branch extends History {
  /** The messages so far in the form in which requests repeat them. */
  known: string[]
}

/**
 * The conversations that the exchanges of a trajectory are parts of, in the order of their first request. A request
 * that repeats a conversation, with the same tools, continues it; any other begins one. Each choice keeps the request's
 * other members, so that nothing of an exchange is lost.
 * @param exchanges checked before
 */
export function historiesOf(exchanges: LosslessJson): History[] {
  const branches: Branch[] = []
  for (const asked of askedOf(exchanges).sort(byTime)) {
    const begun = longestOf(branches.filter((branch) => isBegin(branch, asked)))
    for (const [index, answer] of asked.answers.entries()) {
      const branch = index === 0 ? (begun ?? emptyBranch(asked)) : emptyBranch(asked)
      if (branch !== begun) branches.push(branch)
      continueWith(branch, asked, answer)
    }
  }
  return branches.map(({ messages_and_choices, tools }) => ({ messages_and_choices, tools }))
}

function byTime(one: Asked, other: Asked): number {
  return one.at < other.at ? -1 : Number(one.at > other.at)
}

function emptyBranch({ tools }: Asked): Branch {
  return { messages_and_choices: [], tools, known: [] }
}

function isBegin({ known, tools }: Branch, asked: Asked): boolean {
  if (known.length > asked.messages.length || stringify(tools) !== stringify(asked.tools)) return false
  return known.every((message, index) => message === comparable(asked.messages[index] ?? null))
}

function longestOf(branches: readonly Branch[]): Branch | undefined {
  return branches.reduce<Branch | undefined>(
    (longest, branch) => (branch.known.length > (longest?.known.length ?? 0) ? branch : longest),
    undefined,
  )
}

function continueWith(branch: Branch, asked: Asked, { choice, message }: Answer): void {
  const fresh = asked.messages.slice(branch.known.length)
  branch.messages_and_choices.push(...fresh, choice)
  branch.known.push(...fresh.map(comparable), comparable(message))
}

/** Clients repeat a model's message without members other than text and tool calls. */
function comparable(message: LosslessJson): string {
  if (!isRecord(message) || message instanceof JsonNumber) return stringify(message)
  const { role, content, tool_calls, tool_call_id } = message as Json
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? tool_calls : null
  return stringify([role ?? null, content ?? '', calls, tool_call_id ?? null])
}
