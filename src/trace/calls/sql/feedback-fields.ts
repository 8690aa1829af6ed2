import { invalidRequest, notAllowed } from '../../../errors.ts'
import type { FieldExpression } from '../../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../../query-language/json-path.ts'
import type { Params } from '../../query-language/params.ts'
import { readableJson } from '../../query-language/readable-json.ts'

const ANY_TYPE = '*'

/** Wire: a call may have several of these, of which any counts; of other types the newest does. */
const TYPES_OF_MANY = new Set(['wandb.reaction.1', 'wandb.note.1', ANY_TYPE])

/** Each costs a join. */
const FIELDS_MAX = 10

const REFS = new Set(['runnable_ref', 'trigger_ref'])

const TYPE_START = 'feedback.['
const TYPE_END = '].'

/**
 * Fields of the feedback on calls, `feedback.[type].payload.path`; each is joined to the calls as a table of its own.
 */
export interface FeedbackFields {
  /** @throws 403 for what is not a field of feedback. */
  field(path: string): FieldExpression
  /** The joins that must follow the table of calls. */
  joins(): string
}

export function createFeedbackFields(projectId: string, params: Params): FeedbackFields {
  const joined = new Map<string, { field: FieldExpression; join: string }>()

  function add(path: string): FieldExpression {
    if (joined.size === FIELDS_MAX)
      throw invalidRequest(`At most ${FIELDS_MAX} fields of feedback in one query`)
    const { type, leaf } = leafOf(path, params)
    const many = TYPES_OF_MANY.has(type)
    const prefix = params.bind(`weave:///${projectId}/call/`, 'String')
    const where = [
      `project_id = ${params.bindProject(projectId)}`,
      `startsWith(weave_ref, ${prefix})`,
      ...(type === ANY_TYPE ? [] : [`feedback_type = ${params.bind(type, 'String')}`]),
    ]
    const value = `feedback_${joined.size}`
    // Of values by themselves, the newest that is not NULL would be taken.
    const newest = `tupleElement(argMax(tuple(${leaf}), created_at), 1)`
    const join = `LEFT JOIN (
        SELECT substringUTF8(weave_ref, lengthUTF8(${prefix}) + 1) AS ${value}_call,
          ${many ? newestFirst(leaf) : newest} AS ${value}
        FROM feedback FINAL WHERE ${where.join(' AND ')} GROUP BY ${value}_call
      ) AS ${value}_table ON ${value}_call = calls.id`
    const field: FieldExpression = { sql: value, kind: 'json', ...(many && { many }) }
    joined.set(path, { field, join })
    return field
  }

  return {
    field: (path) => joined.get(path)?.field ?? add(path),
    joins: () => [...joined.values()].map(({ join }) => join).join(' '),
  }
}

/** All values of the field, in an array. */
function newestFirst(leaf: string): string {
  const values = `groupArrayIf((created_at, ${leaf}), isNotNull(${leaf}))`
  return `arrayMap(one -> assumeNotNull(one.2), arrayReverseSort(one -> one.1, ${values}))`
}

/** SQL for a path in one row of feedback. */
function leafOf(path: string, params: Params): { type: string; leaf: string } {
  // The type may have brackets itself: the last closing one counts. A pattern would try each of them to the path's end.
  const end = path.lastIndexOf(TYPE_END)
  const type =
    path.startsWith(TYPE_START) && end > TYPE_START.length ? path.slice(TYPE_START.length, end) : undefined
  const [root = '', ...steps] = type === undefined ? [] : splitPath(path.slice(end + TYPE_END.length))
  if (type !== undefined && root === 'payload')
    return { type, leaf: jsonLeaf(readableJson('payload'), steps, params) }
  if (type !== undefined && REFS.has(root) && steps.length === 0) return { type, leaf: root }
  throw notAllowed(`Field ${path.slice(0, 200)} is not allowed`)
}
