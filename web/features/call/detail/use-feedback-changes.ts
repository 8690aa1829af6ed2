import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query'
import { addFeedback, type FeedbackItem, removeFeedback } from '../../../api/feedback.ts'
import type { Json } from '../../../api/wire.ts'
import { notify } from '../../../components/toast.ts'

interface Given {
  type: string
  payload: { [key: string]: Json }
}

/** Adds and removes feedback of a call; what was removed can be brought back. */
export function useFeedbackChanges(project: string, id: string) {
  const queries = useQueryClient()
  // What waits is shown beside what is stored, so it waits for the call's own feedback alone.
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['calls', project, 'list'] })
    return queries.invalidateQueries({ queryKey: ['feedback', project, id] })
  }
  const onError = (error: Error) => notify({ title: 'The feedback was not saved', detail: error.message })
  const mutationKey = ['feedback', project, id, 'add']
  const add = useMutation({
    mutationKey,
    mutationFn: (given: Given) => addFeedback(project, id, given),
    onSettled: changed,
    onError,
  })
  const remove = useMutation({
    mutationFn: (item: FeedbackItem) => removeFeedback(project, item.id),
    onSettled: changed,
    onError,
    onSuccess: (_, { feedback_type, payload }) => {
      const given = { type: feedback_type, payload: JSON.parse(JSON.stringify(payload)) as Given['payload'] }
      notify({ title: 'Feedback removed', undo: () => add.mutate(given) })
    },
  })
  const waiting = useMutationState<Given | undefined>({
    filters: { mutationKey, status: 'pending' },
    select: ({ state }) => state.variables as Given | undefined,
  })
  return {
    add,
    remove,
    /** Feedback that is not on the server yet. */
    waiting: waiting.filter((given) => given !== undefined),
  }
}
