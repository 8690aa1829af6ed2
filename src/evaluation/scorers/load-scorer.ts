import { checked } from '../../checked.ts'
import { invalidRequest } from '../../errors.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { predictStructured, StructuredCompletionModel } from '../models/structured-completion.ts'
import { type Published, readPublished } from '../published.ts'
import { builtinRule, OWN_CLASSES } from './builtin.ts'
import { Judge, judgeMessages } from './judge.ts'
import type { Scorer } from './scorer.ts'
import type { ScorerCode } from './scorer-code.ts'

export interface LoadingDeps {
  objects: Pick<Objects, 'read'>
  scorerCode: ScorerCode
}

/**
 * The scorer that a ref names: of a builtin class, a judge, or Python code where the server may run that.
 * @throws 400 for what cannot score here, 404 for what is not there.
 */
export async function loadScorer(
  deps: LoadingDeps,
  { ref, projectId }: { ref: unknown; projectId: string },
): Promise<Scorer> {
  const found = await readPublished(deps.objects, { ref, projectId, what: 'A scorer' })
  const className = String(found.val['_class_name'])
  const isOwn = found.kind === 'object' && !(OWN_CLASSES.includes(className) && hasCode(found))
  const rule = isOwn ? builtinRule(className, found.val) : undefined
  const named = { name: scorerName(found), ref: found.ref, opName: `${className}.score` }
  if (rule !== undefined) return { ...named, score: async (scored) => rule(scored) }
  if (className === 'LLMAsAJudgeScorer') return { ...named, score: await judgeOf(deps, found) }
  return deps.scorerCode.load(found)
}

/** Wire: a scorer's results stand under its name; without one, under that of its class. */
function scorerName({ val, name }: Published): string {
  const own = val['name'] ?? val['_class_name'] ?? name
  return String(own)
}

/** Clients publish the methods of their own classes as ops. */
function hasCode({ val }: Published): boolean {
  return typeof val['score'] === 'string'
}

async function judgeOf(deps: LoadingDeps, found: Published): Promise<Scorer['score']> {
  const judge = checked(Judge, found.val, found.name)
  const model = await judgesModel(deps, judge.model, found)
  const own = { projectId: found.projectId, objects: deps.objects }
  if (typeof judge.scoring_prompt === 'string' && judge.scoring_prompt === '')
    throw invalidRequest(`${found.name}: the scoring prompt is empty`)
  return (scored, ask) => {
    const user_input = judgeMessages(judge, scored)
    return predictStructured(model, { user_input, template_vars: {} }, { ...own, ask })
  }
}

async function judgesModel(
  deps: LoadingDeps,
  model: unknown,
  { name, projectId }: Published,
): Promise<StructuredCompletionModel> {
  const what = `The model of ${name}`
  if (typeof model !== 'string') return checked(StructuredCompletionModel, model, what)
  const found = await readPublished(deps.objects, { ref: model, projectId, what })
  return checked(StructuredCompletionModel, found.val, what)
}
