import type { Turn } from '../../../api/trajectories.ts'
import type { ShownMessage } from '../../../components/chat-messages.tsx'
import type { GroupOrder } from './search.ts'

/** One attempt of a group, as far as the overview knows it. */
export interface Attempt {
  trajectory: number
  reward: number
  turns: number
}

/** Attempts at one task. */
export interface Group {
  group: number
  attempts: Attempt[]
  exceptions: number
  mean: number
  /** Population standard deviation of the rewards. */
  spread: number
  /** Whether more of it may still come. */
  isGrowing: boolean
}

/** Groups of a step from the places of its turns, which come in the order of the groups. */
export function groupsOf(turns: readonly Turn[], { isComplete }: { isComplete: boolean }): Group[] {
  const found = new Map<number, { attempts: Map<number, Attempt>; exceptions: number }>()
  for (const { place, exception } of turns) {
    const group = found.get(place.group) ?? { attempts: new Map<number, Attempt>(), exceptions: 0 }
    found.set(place.group, group)
    if (exception !== null) {
      group.exceptions++
      continue
    }
    const { trajectory, reward } = place
    // A group without attempts is one call, which has no place in any.
    if (trajectory === undefined) continue
    const attempt = group.attempts.get(trajectory)
    if (attempt !== undefined) attempt.turns++
    else {
      group.attempts.set(trajectory, { trajectory, reward, turns: 1 })
    }
  }
  const last = Math.max(...found.keys())
  return [...found].map(([group, { attempts, exceptions }]) => {
    const list = [...attempts.values()].sort((a, b) => b.reward - a.reward || a.trajectory - b.trajectory)
    const moments = momentsOf(list.map(({ reward }) => reward))
    return { group, attempts: list, exceptions, ...moments, isGrowing: !isComplete && group === last }
  })
}

function momentsOf(values: readonly number[]): { mean: number; spread: number } {
  if (values.length === 0) return { mean: 0, spread: 0 }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean, spread: Math.sqrt(variance) }
}

export function sortGroups(groups: readonly Group[], order: GroupOrder): Group[] {
  const key = (group: Group): number => {
    if (order.endsWith('reward')) return group.mean
    return order.endsWith('spread') ? group.spread : group.group
  }
  const sign = order.startsWith('-') ? -1 : 1
  return groups.toSorted((a, b) => (key(a) - key(b)) * sign || a.group - b.group)
}

/** Smallest and largest reward of all groups, for one scale over all of them. */
export function rewardRange(groups: readonly Group[]): [number, number] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { attempts } of groups) {
    for (const { reward } of attempts) {
      min = Math.min(min, reward)
      max = Math.max(max, reward)
    }
  }
  return min > max ? [0, 1] : [min, max]
}

/** The prompt as one line: the last user message, or the first of any kind. */
export function promptOf(turn: Turn | undefined): string {
  const messages = messagesOf(turn)
  const asked = messages.findLast(({ role }) => role === 'user') ?? messages[0]
  return textOf(asked?.content)
}

/** The messages before a turn. */
export function messagesOf(turn: Turn | undefined): ShownMessage[] {
  const messages = memberOf(turn?.inputs, 'messages')
  return Array.isArray(messages) ? messages.filter(isMessage) : []
}

/** The model's answer in a turn. */
export function answerOf(turn: Turn | undefined): ShownMessage | undefined {
  const choices = memberOf(turn?.output, 'choices')
  const message = Array.isArray(choices) ? memberOf(choices[0], 'message') : undefined
  return isMessage(message) ? message : undefined
}

/** Why the model stopped. */
export function finishOf(turn: Turn | undefined): string | undefined {
  const choices = memberOf(turn?.output, 'choices')
  const reason = Array.isArray(choices) ? memberOf(choices[0], 'finish_reason') : undefined
  return typeof reason === 'string' ? reason : undefined
}

/** Text of a content, which may be a text or parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => String(memberOf(part, 'text') ?? '')).join('')
}

export function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function isMessage(value: unknown): value is ShownMessage {
  return typeof memberOf(value, 'role') === 'string'
}
