import type { CallContext } from '../../http/caller.ts'
import { placeholderSource } from '../objects/op-value.ts'
import { checkObjectId } from '../objects/publisher.ts'
import { safeName } from '../objects/safe-name.ts'
import { projectIdOf } from '../project-path-wire.ts'
import { classValue } from './class-value.ts'
import {
  createGroup,
  type GroupDeps,
  type GroupVersions,
  namedOf,
  objectRef,
  ofClass,
  type Stored,
  textOf,
} from './group.ts'
import type { Ops } from './ops.ts'
import type { Evaluation, EvaluationCreateReq, EvaluationCreateRes } from './wire.ts'

/** A dataset and scorers, under a name. */
export interface Evaluations extends GroupVersions<Evaluation> {
  create(req: EvaluationCreateReq, context: CallContext): Promise<EvaluationCreateRes>
}

export function createEvaluations(deps: GroupDeps, ops: Ops): Evaluations {
  const { publish, ...group } = createGroup(deps, { ...ofClass('Evaluation'), show })

  async function create(req: EvaluationCreateReq, context: CallContext) {
    const { name, description = null, dataset, trials, evaluation_name = null, eval_attributes } = req
    const project_id = projectIdOf(req)
    const object_id = safeName(name)
    checkObjectId(object_id)
    const valueWith = ([evaluate, predict_and_score, summarize]: readonly string[]) =>
      classValue(
        'Evaluation',
        {
          name,
          description,
          dataset,
          scorers: req.scorers ?? [],
          trials,
          evaluation_name,
          metadata: null,
          preprocess_model_input: null,
          evaluate,
          predict_and_score,
          summarize,
        },
        eval_attributes,
      )
    // A refused attribute must not leave ops behind.
    valueWith(METHODS)
    // The code of an evaluation is on the client that runs it.
    const sources = METHODS.map((method) => [
      `${object_id}.${method}`,
      placeholderSource(`${method}(*args, **kwargs)`),
    ])
    const val = valueWith(await ops.publishAll(project_id, Object.fromEntries(sources), context))
    const version = await publish({ project_id, object_id, val }, context)
    return { ...version, evaluation_ref: objectRef(project_id, version) }
  }

  return { ...group, create }
}

const METHODS = ['evaluate', 'predict_and_score', 'summarize']

function show(version: Stored) {
  const { dataset, scorers, trials, evaluation_name, evaluate, predict_and_score, summarize } = version.fields
  return {
    ...namedOf(version),
    dataset: textOf(dataset) ?? '',
    scorers: Array.isArray(scorers) ? scorers.map((scorer) => textOf(scorer) ?? '') : [],
    trials: typeof trials === 'number' && Number.isInteger(trials) ? trials : 1,
    evaluation_name: textOf(evaluation_name) ?? null,
    evaluate_op: textOf(evaluate) ?? '',
    predict_and_score_op: textOf(predict_and_score) ?? '',
    summarize_op: textOf(summarize) ?? '',
  }
}
