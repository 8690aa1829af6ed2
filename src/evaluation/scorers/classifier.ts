import { z } from 'zod'
import { invalidRequest, tooLarge } from '../../errors.ts'
import { countFilledChars, type FilledChars } from '../../filled-templates.ts'
import { BadAnswer } from '../../inference/playground/answer-errors.ts'
import { parseShallow } from '../../json/parse-shallow.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { checked } from '../../wire/checked.ts'
import { type Published, readPublished } from '../published.ts'
import { predictStructured, type StructuredCompletionModel } from '../structured-completion.ts'
import { classifierPrompt } from './classifier-prompt.ts'
import { type Judge, type JudgePrompt, judgeMessages, mediaKindsOf } from './judge.ts'
import { loadJudge } from './load-judge.ts'
import type { Scored, ScoreResult, Scorer } from './scorer.ts'
import { namedApart } from './scorer-name.ts'

/** The class of monitors that are scorers too. */
export const CLASSIFIER_CLASS = 'ClassifierMonitor'

/** Classifiers of one monitor; models answer a prompt with more of them badly. */
const CLASSIFIERS_MAX = 100

/** Characters of all of them with their models and prompts, which may be the same large ones. */
const CHARS_MAX = 16 * 1024 * 1024

const Monitor = z.looseObject({ scorers: z.array(z.string()).min(1).max(CLASSIFIERS_MAX) })

/** The model's verdict on one classifier. */
const Verdict = z.looseObject({
  is_match: z.boolean(),
  confidence: z.number().min(0).max(1).nullish(),
  reason: z.string().nullish(),
})
const Verdicts = z.looseObject({ classifiers: z.record(z.string(), Verdict) })

interface Classifier {
  name: string
  ref: string
  judge: Judge
  prompt: JudgePrompt
  /** Classifiers with the same key ask the same model. */
  modelKey: string
  model: StructuredCompletionModel
  /** Of the model and the prompt. */
  chars: number
}

/**
 * The scorers of a `ClassifierMonitor` as one: those that ask the same model are asked in one prompt, and each says
 * whether it applies. The model knows them by their names, so that no two have the same.
 * @throws 400 for scorers that are no judges or cannot be named apart, 404 for unknown things, 413 for too large ones.
 */
export async function classifierOf(
  { objects }: { objects: Pick<Objects, 'read'> },
  monitor: Published,
): Promise<Pick<Scorer, 'score' | 'results'>> {
  const { projectId } = monitor
  const loaded: Classifier[] = []
  let chars = 0
  for (const ref of checked(Monitor, monitor.val, monitor.name).scorers) {
    const classifier = await loadClassifier(objects, { ref, projectId })
    chars += classifier.chars
    if (chars > CHARS_MAX)
      throw tooLarge(`The classifiers of ${monitor.name} have more than ${CHARS_MAX} characters together`)
    loaded.push(classifier)
  }
  const classifiers = namedApart(loaded)
  const byModel = [...Map.groupBy(classifiers, ({ modelKey }) => modelKey).values()]
  return {
    async score(scored, { ask }) {
      const verdicts: Record<string, z.output<typeof Verdict>> = {}
      for (const own of byModel) {
        const [first] = own
        if (first === undefined) continue
        const filled = countFilledChars()
        const user_input = classifierPrompt(
          scored,
          own.map((one) => questionOf(one, { scored, filled })),
        )
        const answer = await predictStructured(
          first.model,
          { user_input, template_vars: {} },
          { projectId, objects, ask },
        )
        Object.assign(verdicts, verdictsIn(answer, own))
      }
      return { classifiers: verdicts }
    },
    results: (output) => resultsOf(Verdicts.parse(output).classifiers, classifiers),
  }
}

async function loadClassifier(
  objects: Pick<Objects, 'read'>,
  { ref, projectId }: { ref: string; projectId: string },
): Promise<Classifier> {
  const found = await readPublished(objects, { ref, projectId, what: 'A classifier' })
  if (found.val['_class_name'] !== 'LLMAsAJudgeScorer')
    throw invalidRequest(`${found.name} is no LLMAsAJudgeScorer, and a classifier monitor has no others`)
  const { judge, model, prompt } = await loadJudge(objects, found)
  if (mediaKindsOf(judge).size > 0)
    throw invalidRequest(`${found.name} is to see media, which a classifier monitor does not show`)
  return {
    name: judge.name ?? found.name,
    ref: found.ref,
    judge,
    prompt,
    model,
    modelKey: JSON.stringify(judge.model),
    chars: JSON.stringify({ judge, model, prompt }).length,
  }
}

/** The question of a classifier. */
function questionOf(
  { name, ...asked }: Classifier,
  { scored, filled }: { scored: Scored; filled: FilledChars },
): { name: string; question: string } {
  const texts = judgeMessages(asked, scored, filled).map(({ content }) =>
    typeof content === 'string' ? content : JSON.stringify(content),
  )
  return { name, question: texts.join('\n') }
}

/** @throws BadAnswer for one without all of them. */
function verdictsIn(
  answer: unknown,
  classifiers: readonly Classifier[],
): Record<string, z.output<typeof Verdict>> {
  const parsed = Verdicts.safeParse(typeof answer === 'string' ? jsonIn(answer) : answer)
  if (!parsed.success)
    throw new BadAnswer('The model was asked for verdicts in JSON and answered something else', parsed.error)
  const verdicts = parsed.data.classifiers
  const missing = classifiers.find(({ name }) => !Object.hasOwn(verdicts, name))
  if (missing !== undefined) throw new BadAnswer(`The answer of the model leaves out ${missing.name}`)
  return Object.fromEntries(classifiers.map(({ name }) => [name, verdicts[name] ?? { is_match: false }]))
}

/** Models write code fences around JSON even where the prompt forbids it. */
function jsonIn(text: string): unknown {
  try {
    return parseShallow(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  } catch {
    return undefined
  }
}

/** Wire: what applies is a tag. */
function resultsOf(
  verdicts: Record<string, z.output<typeof Verdict>>,
  classifiers: readonly Classifier[],
): ScoreResult[] {
  return classifiers.map(({ name, ref }) => {
    const output = verdicts[name]
    if (output?.is_match !== true) return { ref, output }
    const { reason, confidence } = output
    const typed = {
      scorer_tags: [name],
      ...(reason != null && { scorer_tag_reasons: { [name]: reason } }),
      ...(confidence != null && { scorer_tag_confidences: { [name]: confidence } }),
    }
    return { ref, output, typed }
  })
}
