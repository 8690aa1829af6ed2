import type { CallContext } from '../http/caller.ts'
import type { JsonText } from '../json/lossless-json.ts'
import type { Feedback } from '../trace/feedback/service.ts'
import { splitPath } from '../trace/query-language/json-path.ts'
import type { Operand } from '../trace/query-language/wire.ts'
import { callRef } from '../trace/ref-uri.ts'
import { below, type Candidate } from './candidate.ts'
import type { Score, Where } from './wire.ts'

/** A score, or the reason why there is none. */
export type Scored = { score: number } | { reason: string }

export interface Scoring {
  projectId: string
  score: Score
  /** The annotator whose annotation counts; the newest of any annotator where absent. */
  annotator: string | undefined
  context: CallContext
}

/** Finds the scores of calls: feedback, annotations and outputs of scorers. */
export interface Scores {
  /** In the order of the candidates. */
  of(candidates: readonly Candidate[], scoring: Scoring): Promise<Scored[]>
}

export function createScores({ feedback }: { feedback: Pick<Feedback, 'query'> }): Scores {
  /** The value at the path in the newest feedback of each ref. */
  async function newest(
    refs: readonly string[],
    said: { type: string; path: string; by: string | undefined },
    { projectId: project_id, context }: Scoring,
  ): Promise<Map<string, JsonText | null>> {
    const field = `payload.${said.path}`
    const conditions: Operand[] = [
      equals('feedback_type', said.type),
      { $in: [{ $getField: 'weave_ref' }, refs.map(($literal) => ({ $literal }))] },
      ...(said.by === undefined ? [] : [equals('wb_user_id', said.by)]),
    ]
    const query = { $expr: { $and: conditions } }
    // Oldest first, so that the newest value remains.
    const { result } = await feedback.query({ project_id, fields: ['weave_ref', field], query }, context)
    return new Map(result.map((row) => [String(row['weave_ref']?.value()), row[field] ?? null]))
  }

  async function of(candidates: readonly Candidate[], scoring: Scoring): Promise<Scored[]> {
    const { score, projectId } = scoring
    if ('scorer' in score) return candidates.map((candidate) => scorersSay(candidate, score))
    const refOf = ({ call }: Candidate): string => callRef(projectId, call.id)
    const said =
      'annotation' in score
        ? { type: `wandb.annotation.${score.annotation}`, path: 'value', by: scoring.annotator }
        : { type: score.feedback_type, path: score.path, by: undefined }
    const values = candidates.length === 0 ? new Map() : await newest(candidates.map(refOf), said, scoring)
    return candidates.map((candidate): Scored => {
      const value = values.get(refOf(candidate))
      if (value === undefined) return { reason: `has no feedback of type ${said.type}` }
      return scoreOf(value?.value(), `${said.path} of its newest feedback of type ${said.type}`)
    })
  }

  return { of }
}

/** Why a score does not match the request; undefined where it does. */
export function refusalOf(score: number, { min_score, max_score }: Where): string | undefined {
  if (min_score != null && score < min_score) return `has a score below ${min_score}`
  if (max_score != null && score > max_score) return `has a score above ${max_score}`
  return undefined
}

function scorersSay(
  { scores }: Candidate,
  { scorer, path }: { scorer: string; path?: string | null | undefined },
): Scored {
  const steps = path == null ? [] : splitPath(path)
  const said = scores && below(scores.text, [scorer])
  if (said === undefined) return { reason: `has no score by ${scorer}` }
  const text = below(said, steps)
  return scoreOf(text && JSON.parse(text), `${path ?? 'the value'} of its score by ${scorer}`)
}

/** Booleans count as 0 and 1. */
function scoreOf(value: unknown, what: string): Scored {
  if (typeof value === 'boolean') return { score: Number(value) }
  return typeof value === 'number' ? { score: value } : { reason: `has no number at ${what}` }
}

function equals(field: string, literal: string): Operand {
  return { $eq: [{ $getField: field }, { $literal: literal }] }
}
