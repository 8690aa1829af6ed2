import type { Objects } from '../../trace/objects/service.ts'
import { isRef } from '../../trace/ref-uri.ts'
import { checked } from '../../wire/checked.ts'
import { type Published, readPublished } from '../published.ts'
import { StructuredCompletionModel } from '../structured-completion.ts'
import { Judge, JudgePrompt } from './judge.ts'

/**
 * A judge with its model and its prompt, each given inline or as a ref.
 * @throws 400 for a model that this server cannot ask and for what is no prompt, 404 for what does not exist.
 */
export async function loadJudge(
  objects: Pick<Objects, 'read'>,
  { val, name, projectId }: Published,
): Promise<{ judge: Judge; model: StructuredCompletionModel; prompt: JudgePrompt }> {
  const resolved = async (value: unknown, what: string): Promise<unknown> => {
    if (typeof value !== 'string' || !isRef(value)) return value
    return (await readPublished(objects, { ref: value, projectId, what })).val
  }
  const judge = checked(Judge, val, name)
  const [itsModel, itsPrompt] = [`The model of ${name}`, `The prompt of ${name}`]
  return {
    judge,
    model: checked(StructuredCompletionModel, await resolved(judge.model, itsModel), itsModel),
    prompt: checked(JudgePrompt, await resolved(judge.scoring_prompt, itsPrompt), itsPrompt),
  }
}
