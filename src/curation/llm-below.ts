import { tooLarge } from '../errors.ts'
import type { CallContext } from '../http/caller.ts'
import { slicesOf } from '../slices.ts'
import type { Call } from '../trace/calls/messages/call-wire.ts'
import type { Calls } from '../trace/calls/service.ts'
import { yielding } from '../yielding.ts'
import { type Conversation, chatOf } from './chat-shapes.ts'

/** Wire: a list in a filter is limited to this. */
const PARENTS_PER_QUERY = 1000

/** Calls below one batch that are looked at: agents make some hundred each. */
const LOOKED_AT_MAX = 200_000

/** Model calls below a call: none, the one, or several. */
export type Below = { id: string; conversation: Conversation } | 'several' | undefined

/**
 * Finds the model calls below each of some calls, level by level. The search ends at a model call: clients that use
 * several libraries trace the same request in each.
 */
export async function llmBelow(
  calls: Pick<Calls, 'list'>,
  { projectId: project_id, context }: { projectId: string; context: CallContext },
  roots: readonly Call[],
): Promise<Map<string, Below>> {
  const found = new Map<string, Below>()
  // Clients choose the parents of calls, which may stand in a circle.
  const seen = new Set<string>()
  let looked = 0
  let level = new Map(roots.map(({ id }) => [id, id]))
  while (level.size > 0) {
    const parents = [...level.keys()]
    const next = new Map<string, string>()
    for (const some of slicesOf(parents, PARENTS_PER_QUERY)) {
      const filter = { parent_ids: some }
      const children = await calls.list({ project_id, filter, columns: COLUMNS }, context)
      for await (const call of yielding(children)) {
        if (++looked > LOOKED_AT_MAX)
          throw tooLarge('There are too many calls below these: collect fewer at once')
        const root = level.get(call.parent_id ?? '') ?? ''
        const place = `${root} ${call.id}`
        if (call.id === root || seen.has(place)) continue
        seen.add(place)
        const chat = call.exception ? undefined : chatOfCall(call)
        if (chat === undefined) next.set(call.id, root)
        else found.set(root, found.has(root) ? 'several' : { id: call.id, conversation: chat })
      }
    }
    level = next
  }
  return found
}

const COLUMNS = ['inputs', 'output', 'attributes']

function chatOfCall({ inputs, output, attributes }: Call): Conversation | undefined {
  return chatOf({ inputs: inputs.value(), output: output?.value(), attributes: attributes.value() })
}
