import { queryOptions } from '@tanstack/react-query'
import { v7 as newId } from 'uuid'
import { ask, askJson } from './client.ts'
import { parseJson } from './json.ts'
import type { Json } from './wire.ts'

export interface FeedbackItem {
  id: string
  weave_ref: string
  feedback_type: string
  creator: string | null
  created_at: string
  wb_user_id: string | null
  payload: { [key: string]: Json | undefined }
}

/** Wire: how the clients name them. */
export const REACTION = 'wandb.reaction.1'
export const NOTE = 'wandb.note.1'

export function callRef(projectId: string, callId: string): string {
  return `weave:///${projectId}/call/${callId}`
}

/** Feedback of people and programs on one call, the newest last. */
export function feedbackQuery(projectId: string, callId: string) {
  return queryOptions({
    queryKey: ['feedback', projectId, callId],
    queryFn: async ({ signal }): Promise<FeedbackItem[]> => {
      const query = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: callRef(projectId, callId) }] } }
      const sort_by = [{ field: 'created_at', direction: 'asc' }]
      const body = { project_id: projectId, query, sort_by, limit: 1000 }
      return (await askJson<{ result: FeedbackItem[] }>('/feedback/query', { body, signal })).result
    },
  })
}

/** Feedback to add to a call. */
export interface Given {
  /** Sent twice, it is the same feedback. */
  id: string
  type: string
  payload: { [key: string]: Json }
}

export function newFeedback(type: string, payload: Given['payload']): Given {
  return { id: newId(), type, payload }
}

/**
 * What gives removed feedback again as it was; undefined where something of it would be lost: its author, or the refs
 * of scores and annotations.
 *
 * @param own the name of the person who gives it
 */
export function givenAgain(
  { feedback_type: type, creator, wb_user_id, payload }: FeedbackItem,
  own: string | undefined,
): Given | undefined {
  const isOwn = own !== undefined && wb_user_id === own && creator === null
  if (!isOwn || (type !== NOTE && type !== REACTION)) return undefined
  return newFeedback(type, parseJson(JSON.stringify(payload)) as Given['payload'])
}

export async function addFeedback(
  project_id: string,
  callId: string,
  { id, type, payload }: Given,
): Promise<void> {
  const body = { id, project_id, weave_ref: callRef(project_id, callId), feedback_type: type, payload }
  await ask('/feedback/create', { body, isRepeatable: true })
}

export async function removeFeedback(project_id: string, id: string): Promise<void> {
  const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } }
  await ask('/feedback/purge', { body: { project_id, query }, isRepeatable: true })
}
