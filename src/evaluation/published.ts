import { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import type { JsonText } from '../json/lossless-json.ts'
import type { Objects } from '../trace/objects/service.ts'
import { parseRef, versionNamed } from '../trace/ref-uri.ts'

/** An object or an op that clients published. */
export interface Published {
  projectId: string
  name: string
  digest: string
  kind: string
  /** With the digest, whatever version the ref named. */
  ref: string
  val: Record<string, unknown>
}

const Instance = z.looseObject({})

/**
 * Reads what a ref of `projectId` leads to; `what` names it in messages.
 * @throws 400 for anything but a ref to an object or an op of the project, 404 for an unknown one.
 */
export async function readPublished(
  objects: Pick<Objects, 'read'>,
  { ref: text, projectId, what }: { ref: unknown; projectId: string; what: string },
): Promise<Published> {
  if (typeof text !== 'string') throw invalidRequest(`${what} must be a ref`)
  const ref = parseRef(text)
  if ((ref.kind !== 'object' && ref.kind !== 'op') || ref.edges.length > 0 || ref.version === undefined)
    throw invalidRequest(`${what} must be the ref of an object: ${text}`)
  if (ref.projectId !== projectId) throw invalidRequest(`${what} is not of project ${projectId}: ${text}`)
  const { obj } = await objects.read(versionNamed(ref))
  const { digest, kind } = obj
  return {
    projectId,
    name: ref.name,
    digest,
    kind,
    ref: `weave:///${projectId}/${kind}/${encodeURIComponent(ref.name)}:${digest}`,
    val: instanceOf(obj.val, what),
  }
}

function instanceOf(val: JsonText | null, what: string): Record<string, unknown> {
  const parsed = Instance.safeParse(val?.value())
  if (!parsed.success) throw invalidRequest(`${what} is no instance of a class`)
  return parsed.data
}
