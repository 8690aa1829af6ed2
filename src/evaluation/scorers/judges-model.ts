import { checked } from '../../checked.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { type Published, readPublished } from '../published.ts'
import { StructuredCompletionModel } from '../structured-completion.ts'

/**
 * The model of a judge, given inline or as a ref.
 * @throws 400 for a model that this server cannot ask, 404 for one that does not exist.
 */
export async function judgesModel(
  objects: Pick<Objects, 'read'>,
  model: unknown,
  { name, projectId }: Published,
): Promise<StructuredCompletionModel> {
  const what = `The model of ${name}`
  if (typeof model !== 'string') return checked(StructuredCompletionModel, model, what)
  const found = await readPublished(objects, { ref: model, projectId, what })
  return checked(StructuredCompletionModel, found.val, what)
}
