import { invalidRequest } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { JsonText } from '../../json/lossless-json.ts'
import { nowIso } from '../../time.ts'
import type { AnnotationQueues } from '../annotation-queues/service.ts'
import type { Objects } from '../objects/service.ts'
import { internalRef, isInternalRef, isRef } from '../ref-uri.ts'
import { refsIn } from '../refs/refs-in.ts'
import { checkedPayload } from './payload.ts'
import type { StoredRow } from './redact-rows.ts'
import type { FeedbackCreateReq } from './wire.ts'

/** An id is a UUID by custom; longer ones would only fill the table's key. */
const ID_CHARS_MAX = 128

/**
 * The row of feedback that a user gives.
 * @throws 400 for what its type does not allow, 404 for an annotation of an unknown object
 */
export type RowCheck = (feedback: FeedbackCreateReq, user: string) => Promise<StoredRow>

export function createRowCheck(deps: {
  objects: Pick<Objects, 'read'>
  annotationQueues: Pick<AnnotationQueues, 'isLive'>
}): RowCheck {
  /** @throws 400 for feedback from a queue that the project does not have, or that was deleted. */
  async function checkQueue({ project_id, queue_id }: FeedbackCreateReq): Promise<void> {
    if (queue_id != null && !(await deps.annotationQueues.isLive({ project_id, queue_id })))
      throw invalidRequest(`Annotation queue ${queue_id.slice(0, ID_CHARS_MAX)} not found`)
  }

  async function readObject(project_id: string, object_id: string, digest: string): Promise<JsonText | null> {
    const { obj } = await deps.objects.read({ project_id, object_id, digest, kind: 'object' })
    return obj.val
  }

  return async (feedback, user) => {
    await checkQueue(feedback)
    const id = feedback.id ?? newId()
    if (id === '' || id.length > ID_CHARS_MAX) throw invalidRequest(`Invalid feedback id: ${id.slice(0, 64)}`)
    checkRef(feedback.weave_ref)
    refsIn(feedback.payload)
    return {
      ...feedback,
      id,
      payload: await checkedPayload(feedback, readObject),
      // The display name, which the client chooses; the user is recorded beside it.
      creator: feedback.creator ?? null,
      wb_user_id: user,
      created_at: nowIso(),
    }
  }
}

function checkRef(ref: string): void {
  if (isInternalRef(ref)) throw invalidRequest('Unexpected internal ref format')
  if (isRef(ref)) internalRef(ref)
}
