import type { Json } from '../../../api/wire.ts'
import type { Message, Part } from './messages.ts'

/** Results of tool calls beside the calls that they belong to. */
export interface Pairing {
  /** By the part of the call. */
  results: ReadonlyMap<Part, Json>
  /** The parts that are a result of one of these calls. */
  paired: ReadonlySet<Part>
}

/**
 * Finds the call of each result: the oldest of its id, or of its name, that has none yet. Ids repeat from turn to turn
 * with some clients, and Gemini's calls have only names.
 */
export function pairResults(messages: readonly Message[]): Pairing {
  const open = new Map<string, Part[]>()
  const results = new Map<Part, Json>()
  const paired = new Set<Part>()
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.kind === 'call')
      for (const key of new Set([part.id, part.name])) {
        const queue = open.get(key)
        if (queue === undefined) open.set(key, [part])
        else queue.push(part)
      }
    if (part.kind !== 'result') continue
    const queue = open.get(part.id)
    let call = queue?.shift()
    // It stands under its id and its name, and may have its result by the other.
    while (call !== undefined && results.has(call)) call = queue?.shift()
    if (call === undefined) continue
    results.set(call, part.value)
    paired.add(part)
  }
  return { results, paired }
}
