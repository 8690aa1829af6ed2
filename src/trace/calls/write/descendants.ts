import { tooLarge } from '../../../errors.ts'
import { rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import * as queries from './queries.ts'

/** Calls of the affected traces, which are searched for descendants: a deletion holds their ids in memory. */
const MEMBERS_MAX = 1_000_000

/**
 * Ids of calls, known or not, and of all calls below them; parents before their children.
 * @throws 413 for too many at once.
 */
export async function withDescendants(
  traces: TraceDb,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const query = queries.selectTraceMembers(projectId, ids, MEMBERS_MAX + 1)
  const members = await rowsOf(traces.query<queries.TraceMember>(query))
  if (members.length > MEMBERS_MAX)
    throw tooLarge(`The traces of these calls have more than ${MEMBERS_MAX} calls, so none was deleted`)
  const children = Map.groupBy(members, (member) => member.parent_id)
  const found = new Set(ids)
  // A set that grows while it is iterated over shows its new members too.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id)
  return [...found]
}
