import pMap from 'p-map'
import { invalidRequest } from '../../errors.ts'
import { builtinRule, OWN_CLASSES } from '../../rule-threads/builtin-rules.ts'
import { runRule } from '../../rule-threads/run-rule.ts'
import type { Files } from '../../trace/files/service.ts'
import type { PlaceholderOps } from '../../trace/objects/placeholder-ops.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { refOf } from '../../trace/ref-uri.ts'
import { type Published, readPublished } from '../published.ts'
import { predictStructured } from '../structured-completion.ts'
import { CLASSIFIER_CLASS, classifierOf } from './classifier.ts'
import { judgeMessages, mediaKindsOf, withParts } from './judge.ts'
import { mediaParts } from './judge-media.ts'
import { loadJudge } from './load-judge.ts'
import type { RemoteScorers } from './remote-scorer.ts'
import type { Scorer } from './scorer.ts'
import type { ScorerCode } from './scorer-code.ts'
import { scorerName } from './scorer-name.ts'

/** Scorers of one evaluation, monitor or request: each makes a call of every row, or a task of every call. */
export const SCORERS_MAX = 100

/** Scorers that are loaded at once; each takes some reads of the trace database, which others wait for. */
const LOADED_AT_ONCE = 4

export interface LoadingDeps {
  objects: Pick<Objects, 'read'>
  files: Pick<Files, 'read'>
  ops: Pick<PlaceholderOps, 'refOf'>
  scorerCode: ScorerCode
  remoteScorers: RemoteScorers
}

/**
 * The scorer that a ref names: of a builtin class, a judge, a classifier monitor, a scorer behind a URL, or Python code
 * where the server may run that.
 * @throws 400 for what cannot score here, 404 for unknown things.
 */
export async function loadScorer(
  deps: LoadingDeps,
  { ref, projectId }: { ref: unknown; projectId: string },
): Promise<Scorer> {
  const found = await readPublished(deps.objects, { ref, projectId, what: 'A scorer' })
  const className = String(found.val['_class_name'])
  const isOwn = found.kind === 'object' && !(OWN_CLASSES.includes(className) && hasCode(found))
  const rule = isOwn ? builtinRule(className, found.val) : undefined
  const named = { name: scorerName(found), ref: found.ref, ...opOf(deps, found) }
  if (rule !== undefined) {
    const job = { kind: 'builtin' as const, className, fields: found.val }
    return {
      ...named,
      score: ({ output, inputs }) => runRule(projectId, { ...job, scored: { output, inputs } }),
    }
  }
  if (className === 'LLMAsAJudgeScorer') return { ...named, score: await judgeOf(deps, found) }
  if (className === 'RemoteScorer') return { ...named, ...deps.remoteScorers.load(found) }
  if (className === CLASSIFIER_CLASS) return { ...named, ...(await classifierOf(deps, found)) }
  return { ...named, score: await deps.scorerCode.load(found) }
}

/** Several scorers, in their order. @throws as {@link loadScorer}, for the first that cannot be loaded */
export function loadScorers(
  deps: LoadingDeps,
  { refs, projectId }: { refs: readonly unknown[]; projectId: string },
): Promise<Scorer[]> {
  return pMap(refs, (ref) => loadScorer(deps, { ref, projectId }), { concurrency: LOADED_AT_ONCE })
}

/** Clients publish the methods of classes as ops; for a scorer without them there is a placeholder. */
function opOf({ ops }: LoadingDeps, found: Published): Pick<Scorer, 'opRef' | 'placeholder'> {
  const { projectId, kind, val } = found
  if (kind === 'op') return { opRef: found.ref }
  const score = typeof val['score'] === 'string' ? val['score'] : ''
  const ref = refOf(score)
  if (ref?.kind === 'op' && ref.projectId === projectId) return { opRef: score }
  const placeholder = `${val['_class_name']}.score`
  return { opRef: ops.refOf(projectId, placeholder), placeholder }
}

/** Clients publish the methods of their own classes as ops. */
function hasCode({ val }: Published): boolean {
  return typeof val['score'] === 'string'
}

async function judgeOf(deps: LoadingDeps, found: Published): Promise<Scorer['score']> {
  const { judge, model, prompt } = await loadJudge(deps.objects, found)
  const own = { projectId: found.projectId, objects: deps.objects }
  if (prompt === '') throw invalidRequest(`${found.name}: the scoring prompt is empty`)
  const kinds = mediaKindsOf(judge)
  const paths = judge.media_scoring_json_paths ?? []
  return async (scored, { ask, project_id }) => {
    const parts = kinds.size === 0 ? [] : await mediaParts(deps.files, scored, { kinds, paths, project_id })
    const user_input = withParts(judgeMessages({ judge, prompt }, scored), parts)
    return predictStructured(model, { user_input, template_vars: {} }, { ...own, ask })
  }
}
