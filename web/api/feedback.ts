import { queryOptions } from '@tanstack/react-query'
import { askJson } from './client.ts'
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

/** @returns the id for removing it. */
export async function addFeedback(
  project_id: string,
  callId: string,
  { type, payload }: { type: string; payload: { [key: string]: Json } },
): Promise<string> {
  const body = { project_id, weave_ref: callRef(project_id, callId), feedback_type: type, payload }
  return (await askJson<{ id: string }>('/feedback/create', { body })).id
}

export async function removeFeedback(project_id: string, id: string): Promise<void> {
  const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } }
  await askJson('/feedback/purge', { body: { project_id, query } })
}
