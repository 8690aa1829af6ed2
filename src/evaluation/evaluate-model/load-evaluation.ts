import { z } from 'zod'
import { ClientError, invalidRequest } from '../../errors.ts'
import { type JsonText, memberText } from '../../json/lossless-json.ts'
import { refOf } from '../../trace/ref-uri.ts'
import type { Tables } from '../../trace/tables/service.ts'
import { checked } from '../../wire/checked.ts'
import { readPublished } from '../published.ts'
import { type LoadingDeps, loadScorers, SCORERS_MAX } from '../scorers/load-scorer.ts'
import type { Scorer } from '../scorers/scorer.ts'
import { namedApart } from '../scorers/scorer-name.ts'
import { StructuredCompletionModel } from '../structured-completion.ts'

/** Rows times trials; the outcome of each is summarized in memory. */
const ROWS_MAX = 100_000

const Evaluation = z.looseObject({
  _class_name: z.literal('Evaluation'),
  dataset: z.unknown(),
  scorers: z.array(z.unknown()).max(SCORERS_MAX).nullish(),
  trials: z.int().positive().nullish(),
  // Wire: a text, or a function that makes one of the call.
  evaluation_name: z.unknown().optional(),
  preprocess_model_input: z.null({ error: 'is Python code, which is not run here' }).optional(),
})

const Dataset = z.looseObject({ rows: z.string() })

/** Everything an evaluation needs, loaded. */
export interface LoadedEvaluation {
  evaluationRef: string
  /** How its calls are to be shown, where it says so. */
  displayName: string | undefined
  modelRef: string
  model: StructuredCompletionModel
  scorers: Scorer[]
  /** The ref of a dataset's row begins with it and ends with the row's digest. */
  rowRef: string
  table: { projectId: string; digest: string; rows: number }
  trials: number
}

export interface EvaluationRefs {
  project_id: string
  evaluation_ref: string
  model_ref: string
}

/** How many rows an evaluation has to do, from the inputs of its call; 0 where that cannot be found out. */
export async function rowsOfEvaluation(
  { objects, tables }: { objects: LoadingDeps['objects']; tables: Pick<Tables, 'queryStats'> },
  { project_id, inputs }: { project_id: string; inputs: JsonText },
): Promise<number> {
  try {
    const self: unknown = JSON.parse(memberText(inputs.text, 'self') ?? 'null')
    const found = await readPublished(objects, { ref: self, projectId: project_id, what: 'self' })
    const evaluation = checked(Evaluation, found.val, 'self')
    const { table } = await readDataset(
      { objects, tables },
      { ref: evaluation.dataset, projectId: project_id },
    )
    return table.rows * (evaluation.trials ?? 1)
  } catch (error) {
    if (error instanceof ClientError) return 0
    throw error
  }
}

/**
 * Loads what is to be evaluated, on what, and by which scorers.
 * @throws 400 for what this server cannot run or an empty dataset, 404 for unknown things.
 */
export async function loadEvaluation(
  deps: LoadingDeps & { tables: Pick<Tables, 'queryStats'> },
  { project_id: projectId, evaluation_ref, model_ref }: EvaluationRefs,
): Promise<LoadedEvaluation> {
  const { objects } = deps
  const found = await readPublished(objects, { ref: evaluation_ref, projectId, what: 'evaluation_ref' })
  const evaluation = checked(Evaluation, found.val, 'evaluation_ref')
  const model = await readPublished(objects, { ref: model_ref, projectId, what: 'model_ref' })
  const { dataset, table } = await readDataset(deps, { ref: evaluation.dataset, projectId })
  const { evaluation_name } = evaluation
  const trials = evaluation.trials ?? 1
  if (table.rows === 0) throw invalidRequest(`The dataset ${dataset.name} has no rows`)
  if (table.rows * trials > ROWS_MAX)
    throw invalidRequest(`At most ${ROWS_MAX} rows are evaluated in one run`)
  const scorers = await loadScorers(deps, { refs: evaluation.scorers ?? [], projectId })
  return {
    evaluationRef: found.ref,
    displayName: typeof evaluation_name === 'string' ? evaluation_name : undefined,
    modelRef: model.ref,
    model: checked(StructuredCompletionModel, model.val, 'model_ref'),
    scorers: namedApart(scorers),
    rowRef: `${dataset.ref}/attr/rows/id/`,
    table,
    trials,
  }
}

async function readDataset(
  { objects, tables }: { objects: LoadingDeps['objects']; tables: Pick<Tables, 'queryStats'> },
  { ref, projectId }: { ref: unknown; projectId: string },
) {
  const dataset = await readPublished(objects, { ref, projectId, what: 'The dataset of the evaluation' })
  const digest = refOf(checked(Dataset, dataset.val, dataset.name).rows)?.name ?? ''
  const { count: rows } = await tables.queryStats({ project_id: projectId, digest })
  return { dataset, table: { projectId, digest, rows } }
}
