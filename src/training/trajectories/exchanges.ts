import { isRecord } from '../../json/is-record.ts'
import { JsonNumber, type LosslessJson, stringify } from '../../json/lossless-json.ts'
import { type Answer, type Asked, askedOf } from './exchange-protocols.ts'

type Json = { [key: string]: LosslessJson }

/** One conversation of a trajectory. */
export interface History {
  messages_and_choices: LosslessJson[]
  tools: LosslessJson
}

/** Where conversations are that have had the same messages so far, and what some of them had next. */
interface Node {
  next: Map<string, Node>
  /** The conversations that have come to here and no further. */
  ends: Branch[]
}

interface Branch extends History {
  /** In the order in which they began. */
  number: number
  at: Node
  /** The messages so far. */
  length: number
}

/**
 * The conversations that the exchanges of a trajectory are parts of, in the order of their first request. A request
 * that repeats a conversation, with the same tools, continues it; any other begins one. Each choice keeps the request's
 * other members, so that nothing of an exchange is lost.
 * @param exchanges checked before
 */
export function historiesOf(exchanges: LosslessJson): History[] {
  const roots = new Map<string, Node>()
  const branches: Branch[] = []
  for (const asked of askedOf(exchanges).sort(byTime)) {
    // In the form in which requests repeat them. Each is written once, however many conversations there are to compare
    // with.
    const known = asked.messages.map(comparable)
    const root = nodeIn(roots, stringify(asked.tools))
    const begun = longestBegun(root, known)
    for (const [index, answer] of asked.answers.entries()) {
      const fresh: Branch = {
        messages_and_choices: [],
        tools: asked.tools,
        number: branches.length,
        at: root,
        length: 0,
      }
      const branch = index === 0 ? (begun ?? fresh) : fresh
      if (branch === fresh) branches.push(branch)
      continueWith(branch, { messages: asked.messages, known }, answer)
    }
  }
  return branches.map(({ messages_and_choices, tools }) => ({ messages_and_choices, tools }))
}

function byTime(one: Asked, other: Asked): number {
  return one.at < other.at ? -1 : Number(one.at > other.at)
}

function nodeIn(nodes: Map<string, Node>, text: string): Node {
  const node = nodes.get(text) ?? { next: new Map(), ends: [] }
  nodes.set(text, node)
  return node
}

/** The conversation with the most messages of those that these begin with; of equal ones, the oldest. */
function longestBegun(root: Node, known: readonly string[]): Branch | undefined {
  let longest: Branch | undefined
  let node: Node | undefined = root
  for (const message of known) {
    node = node.next.get(message)
    if (node === undefined) break
    longest = oldestOf(node.ends) ?? longest
  }
  return longest
}

function oldestOf(branches: readonly Branch[]): Branch | undefined {
  return branches.reduce<Branch | undefined>(
    (oldest, branch) => (oldest === undefined || branch.number < oldest.number ? branch : oldest),
    undefined,
  )
}

function continueWith(
  branch: Branch,
  { messages, known }: { messages: readonly LosslessJson[]; known: readonly string[] },
  { choice, message }: Answer,
): void {
  branch.at.ends = branch.at.ends.filter((other) => other !== branch)
  for (let index = branch.length; index < messages.length; index++) {
    branch.messages_and_choices.push(messages[index] ?? null)
    branch.at = nodeIn(branch.at.next, known[index] ?? '')
  }
  branch.messages_and_choices.push(choice)
  branch.at = nodeIn(branch.at.next, comparable(message))
  branch.at.ends.push(branch)
  branch.length = messages.length + 1
}

/** Clients repeat a model's message without members other than text and tool calls. */
function comparable(message: LosslessJson): string {
  if (!isRecord(message) || message instanceof JsonNumber) return stringify(message)
  const { role, content, tool_calls, tool_call_id } = message as Json
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? tool_calls : null
  return stringify([role ?? null, content ?? '', calls, tool_call_id ?? null])
}
