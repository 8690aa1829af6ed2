import { notFound, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { isRecord } from '../../json/is-record.ts'
import { type JsonText, memberText } from '../../json/lossless-json.ts'
import { slicesOf } from '../../slices.ts'
import { nowIso } from '../../time.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { opShortName } from '../../trace/calls/sql/derived.ts'

/** Wire: a list in a filter is limited to this. */
const PARENTS_PER_QUERY = 1000

/** Calls deleted in one write. */
const DELETED_PER_WRITE = 5000

/** Calls deleted in one request; their ids are in memory, some hundred bytes each. */
const DELETED_MAX = 1_000_000

/** Wire: which calls are of one op, in any version, published or not. */
export function opNames(projectId: string, names: readonly string[]): string[] {
  return names.flatMap((name) => [name, `weave:///${projectId}/op/${name}:*`])
}

export const EVALUATE = 'Evaluation.evaluate'
export const SUMMARIZE = 'Evaluation.summarize'
export const PREDICT_AND_SCORE = 'Evaluation.predict_and_score'

/** Wire: the JavaScript client has a spelling of its own. */
export const PREDICT_AND_SCORE_NAMES = [PREDICT_AND_SCORE, 'Evaluation.predictAndScore'] as const

export function isPredictAndScore({ op_name }: Pick<Call, 'op_name'>): boolean {
  const name = opShortName(op_name)
  return PREDICT_AND_SCORE_NAMES.some((spelling) => spelling === name)
}

/** The members of `attributes.weave`. */
export function marksOf(call: Pick<Call, 'attributes'>): Record<string, unknown> {
  const marks: unknown = JSON.parse(memberText(call.attributes.text, 'weave') ?? 'null')
  return isRecord(marks) ? marks : {}
}

/** A mark that is a text. */
export function markOf(call: Pick<Call, 'attributes'>, name: string): string | undefined {
  const mark = marksOf(call)[name]
  return typeof mark === 'string' ? mark : undefined
}

/** The text at a member: strings as they are, anything else as JSON; undefined for none. */
export function textAt({ text }: JsonText, name: string): string | undefined {
  const member = memberText(text, name)
  if (member === undefined || member === 'null') return undefined
  return member.startsWith('"') ? String(JSON.parse(member)) : member
}

/** Numbers that clients know as floats are written as such; JSON has none that is not finite. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return 'null'
  const text = String(value)
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}

/** A kind of call in evaluations. */
export interface Kind {
  /** For messages. */
  name: string
  is(call: Call): boolean
}

/** Calls of evaluations, found and deleted; calls of another kind are not found. */
export interface EvaluationCalls {
  /** @throws 404 for a call that does not exist, or is of another kind. */
  find(req: { project_id: string; id: string }, kind: Kind, context: CallContext): Promise<Call>
  /**
   * Deletes calls of a kind with all below them and returns the number of deleted calls. They are deleted last, after
   * `before`, so that an interrupted deletion can be repeated.
   */
  delete(
    req: { project_id: string; ids: readonly string[] },
    kind: Kind,
    context: CallContext,
    before?: BeforeDeletion,
  ): Promise<number>
}

/**
 * What has to be done before these calls, which have their attributes, are deleted; may be repeated. Resolves with the
 * ids of other calls that are deleted too, with all below them and without being counted.
 */
type BeforeDeletion = (doomed: readonly Call[]) => Promise<string[]>

export function createEvaluationCalls({ calls }: { calls: Calls }): EvaluationCalls {
  async function withDescendants(
    project_id: string,
    roots: readonly string[],
    context: CallContext,
  ): Promise<string[]> {
    const found = new Set(roots)
    let waiting = [...found]
    while (waiting.length > 0) {
      const parent_ids = waiting.slice(0, PARENTS_PER_QUERY)
      waiting = waiting.slice(PARENTS_PER_QUERY)
      for await (const id of await calls.ids({ project_id, filter: { parent_ids } }, context)) {
        if (found.size >= DELETED_MAX)
          throw tooLarge(`There are more than ${DELETED_MAX} calls below: delete fewer at once`)
        if (!found.has(id)) waiting.push(id)
        found.add(id)
      }
    }
    return [...found]
  }

  async function find(
    { project_id, id }: { project_id: string; id: string },
    kind: Kind,
    context: CallContext,
  ): Promise<Call> {
    const { call } = await calls.read({ project_id, id }, context)
    if (call == null || !kind.is(call)) throw notFound(kind.name, id.slice(0, 64))
    return call
  }

  async function remove(
    { project_id, ids }: { project_id: string; ids: readonly string[] },
    kind: Kind,
    context: CallContext,
    before?: BeforeDeletion,
  ): Promise<number> {
    if (ids.length === 0) return 0
    const named: Call[] = []
    const columns = ['attributes', 'parent_id']
    const found = await calls.list({ project_id, filter: { call_ids: [...ids] }, columns }, context)
    for await (const call of found) if (kind.is(call)) named.push(call)
    const counted = await withDescendants(
      project_id,
      named.map(({ id }) => id),
      context,
    )
    const others = before === undefined ? [] : await withDescendants(project_id, await before(named), context)
    const doomed = [...new Set([...counted, ...others])].reverse()
    const deleted_at = nowIso()
    for (const some of slicesOf(doomed, DELETED_PER_WRITE)) {
      const parts = some.map((id) => ({ project_id, id, deleted_at }))
      await calls.writeParts(parts)
    }
    return counted.length
  }

  return { find, delete: remove }
}
