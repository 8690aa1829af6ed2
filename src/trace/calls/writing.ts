import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import { type ProjectPath, projectIdOf } from '../project-path-wire.ts'
import type { LineCache } from './line-cache.ts'
import { type CallPart, callId, checkDisplayName, endPart, joinParts, startPart } from './parts.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Wire: calls deleted at once are limited to this. */
const DELETE_MAX = 1000

/** Calls of the traces concerned, among which descendants are looked for: a deletion holds their ids in memory. */
const FAMILY_MAX = 1_000_000

/** Calls that one deletion writes at once. */
const DELETED_AT_ONCE = 10_000

/** Hears of calls of clients that end before that is written, and by what it returns when it has been, or has failed. */
export type OnEnded = (ended: readonly { project_id: string; id: string }[]) => Promise<() => void>

/** Every way a call is written: whole, in parts, renamed, deleted. All of them may be repeated without harm. */
export function createCallWriting(deps: { traces: TraceDb; projects: Projects; lines: LineCache }) {
  const { traces, projects, lines } = deps
  let onEnded: OnEnded = async () => () => undefined

  /** Writes what clients send. */
  async function accept(parts: readonly CallPart[]): Promise<void> {
    const ended = parts.filter((part) => part['ended_at'] !== undefined)
    const settled = await onEnded(ended)
    await write(parts).finally(settled)
  }

  async function write(parts: readonly CallPart[]): Promise<void> {
    for (const projectId of new Set(parts.map((part) => part.project_id)))
      await projects.ensureById(projectId)
    await traces.insert('calls', joinParts(parts)).finally(() => lines.changed(parts))
  }

  async function start(
    call: wire.CallStart,
    context: CallContext,
  ): Promise<{ id: string; trace_id: string }> {
    const part = startPart(call, context.caller.user, ['start'])
    await accept([part])
    return { id: part.id, trace_id: part.trace_id }
  }

  /** Writes whole calls. */
  function record(
    project_id: string,
    calls: readonly Omit<wire.CallComplete, 'project_id'>[],
    user: string,
  ): Promise<void> {
    return accept(
      calls.flatMap((call, index) => [
        startPart({ ...call, project_id }, user, ['batch', index]),
        endPart({ ...call, project_id }, ['batch', index]),
      ]),
    )
  }

  return {
    start: (req: wire.CallStartReq, context: CallContext) => start(req.start, context),

    startV2: (req: wire.CallStartV2Req & ProjectPath, context: CallContext) =>
      start({ ...req.start, project_id: projectIdOf(req) }, context),

    async end(req: wire.CallEndReq) {
      await accept([endPart(req.end, ['end'])])
      return {}
    },

    async endV2(req: wire.CallEndV2Req & ProjectPath) {
      await accept([endPart({ ...req.end, project_id: projectIdOf(req) }, ['end'])])
      return {}
    },

    async upsertBatch(req: wire.CallUpsertBatchReq, { caller }: CallContext) {
      const parts = req.batch.map((item, index) => {
        const at = ['batch', index, 'req', item.mode]
        return item.mode === 'start' ? startPart(item.req.start, caller.user, at) : endPart(item.req.end, at)
      })
      await accept(parts)
      return {
        res: req.batch.map((item, index) => {
          const part = parts[index]
          return item.mode === 'start' && part ? { id: part.id, trace_id: String(part.trace_id) } : {}
        }),
      }
    },

    async complete(req: wire.CallsCompleteReq & ProjectPath, { caller }: CallContext) {
      await record(projectIdOf(req), req.batch, caller.user)
      return {}
    },

    record,

    /** Writes parts of clients that their makers have checked. */
    acceptParts: accept,

    /** Writes parts of the server's own calls, which nobody watches: what scores calls would else score itself. */
    writeParts: write,

    /** Tells of calls that end from now on. */
    watchEnds(watcher: OnEnded): void {
      onEnded = watcher
    },

    /** Wire: an unknown call is not an error; an empty name shows the op's own name again. */
    async update(req: wire.CallUpdateReq) {
      if (req.display_name == null) throw invalidRequest('One of [display_name] is required for call update')
      checkDisplayName(req.display_name)
      await write([{ project_id: req.project_id, id: callId(req.call_id), display_name: req.display_name }])
      return {}
    },

    /** Wire: the count is of the given ids and their descendants, known or not. */
    async delete(req: wire.CallsDeleteReq) {
      const ids = await familyOf(traces, req)
      const deleted_at = nowIso()
      // Parents come after their children, so that a deletion that breaks off finds the rest when it is repeated.
      const lastFirst = ids.toReversed()
      for (let from = 0; from < ids.length; from += DELETED_AT_ONCE) {
        const some = lastFirst.slice(from, from + DELETED_AT_ONCE)
        await write(some.map((id) => ({ project_id: req.project_id, id, deleted_at })))
      }
      return { num_deleted: ids.length }
    },
  }
}

/** Calls with all below them, parents before their children. @throws 413 for too many at once. */
async function familyOf(traces: TraceDb, { project_id, call_ids }: wire.CallsDeleteReq): Promise<string[]> {
  if (call_ids.length > DELETE_MAX) throw tooLarge(`At most ${DELETE_MAX} calls can be deleted at once`)
  const given = call_ids.map(callId)
  if (given.length === 0) return []
  const query = queries.selectFamilies(project_id, given, FAMILY_MAX + 1)
  const family = await rowsOf(traces.query<FamilyMember>(query))
  if (family.length > FAMILY_MAX)
    throw tooLarge(`The traces of these calls have more than ${FAMILY_MAX} calls, so none was deleted`)
  return [...withDescendants(given, family)]
}

interface FamilyMember {
  id: string
  parent_id: string | null
}

function withDescendants(roots: readonly string[], family: readonly FamilyMember[]): Set<string> {
  const children = Map.groupBy(family, (member) => member.parent_id)
  const found = new Set(roots)
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id)
  return found
}
