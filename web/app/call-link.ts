import { redirect } from '@tanstack/react-router'
import { isEvaluation } from '../api/call-facts.ts'
import { readCall } from '../api/calls.ts'
import { projectId } from '../api/project.ts'

/**
 * Opens what clients print for a call: the results of an evaluation, the trace of anything else. A call that cannot be
 * read, or has not arrived yet, is left to its page, which shows that and waits.
 */
export async function openCallLink({
  params: { id, ...names },
  abortController,
}: {
  params: { entity: string; project: string; id: string }
  abortController: AbortController
}): Promise<never> {
  const call = await readCall(projectId(names), id, { signal: abortController.signal }).catch(() => null)
  const project = `/${encodeURIComponent(names.entity)}/${encodeURIComponent(names.project)}`
  const runs = encodeURIComponent(JSON.stringify([id]))
  const page =
    call !== null && isEvaluation(call) ? `compare?runs=${runs}` : `calls/${encodeURIComponent(id)}`
  throw redirect({ href: `${project}/${page}`, replace: true })
}
