import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import {
  addFeedback,
  type FeedbackItem,
  type Given,
  givenAgain,
  newFeedback,
  REACTION,
  removeFeedback,
} from '../../../api/feedback.ts'
import { useOwnName } from '../../../api/read-only.ts'
import { notify } from '../../../components/toast.ts'

type FeedbackChanges = ReturnType<typeof useFeedbackChanges>

/** Adds and removes feedback of a call; what of the removed can be given again is brought back on request. */
export function useFeedbackChanges(project: string, id: string) {
  const queries = useQueryClient()
  const own = useOwnName()
  // What waits is shown beside what is stored, so it waits for the call's own feedback alone.
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['calls', project, 'list'] })
    // The server keeps feedback of a call that is gone: the person learns of it here.
    void queries.invalidateQueries({ queryKey: ['calls', project, 'one', id] })
    return queries.invalidateQueries({ queryKey: ['feedback', project, id] })
  }
  const onError = (error: Error) => notify({ title: 'The feedback was not saved', detail: error.message })
  const adding = ['feedback', project, id, 'add']
  const removing = ['feedback', project, id, 'remove']
  const add = useMutation({
    mutationKey: adding,
    mutationFn: (given: Given) => addFeedback(project, id, given),
    onSettled: changed,
    onError,
  })
  const remove = useMutation({
    mutationKey: removing,
    mutationFn: (item: FeedbackItem) => removeFeedback(project, item.id),
    onSettled: changed,
    onError,
    onSuccess: (_, item) => {
      const given = givenAgain(item, own)
      notify({ title: 'Feedback removed', ...(given !== undefined && { undo: () => add.mutate(given) }) })
    },
  })
  const added = useMutationState({
    filters: { mutationKey: adding, status: 'pending' },
    select: ({ state }) => state.variables as Given | undefined,
  })
  const removed = useMutationState({
    filters: { mutationKey: removing, status: 'pending' },
    select: ({ state }) => state.variables as FeedbackItem | undefined,
  })
  return {
    id,
    add,
    remove,
    /** What is not on the server yet. */
    added: added.filter((given) => given !== undefined),
    removed: removed.filter((item) => item !== undefined),
  }
}

/** One emoji of a call. */
export interface Reaction {
  /** Whether the person gave it, or is about to. */
  isOwn: boolean
  /** Who else gave it. */
  others: string[]
}

/**
 * Reactions to a call, of which a person gives and takes back their own alone.
 *
 * @param items all feedback of the call; undefined until it is loaded
 */
export function useReactions(
  items: readonly FeedbackItem[] | undefined,
  { id, add, remove, added, removed }: FeedbackChanges,
) {
  const own = useOwnName()
  const isKnown = items !== undefined && own !== undefined
  /** What was pressed before it was known what there is. */
  const [early, setEarly] = useState<{ id: string; emoji: string }>()
  useEffect(() => {
    if (early === undefined || (early.id === id && !isKnown)) return
    setEarly(undefined)
    if (early.id === id) toggle(early.emoji)
  })
  const given = (emoji: string) =>
    (items ?? []).filter((item) => item.feedback_type === REACTION && item.payload['emoji'] === emoji)

  function reaction(emoji: string): Reaction {
    const isWaiting = added.some(({ payload }) => payload['emoji'] === emoji)
    const others = given(emoji).filter(({ wb_user_id }) => wb_user_id !== own)
    return {
      isOwn: isWaiting || given(emoji).some(({ wb_user_id }) => wb_user_id === own),
      others: others.map(({ creator, wb_user_id }) => creator ?? wb_user_id ?? 'somebody'),
    }
  }

  /** Gives the emoji or takes it back, once it is known which; while a change of it is on its way, nothing. */
  function toggle(emoji: string): void {
    if (!isKnown) {
      setEarly({ id, emoji })
      return
    }
    if ([...added, ...removed].some(({ payload }) => payload['emoji'] === emoji)) return
    const item = given(emoji).find(({ wb_user_id }) => wb_user_id === own)
    if (item === undefined) add.mutate(newFeedback(REACTION, { emoji }))
    else remove.mutate(item)
  }

  return { reaction, toggle, isKnown }
}

/** Who else reacted, in a few words; undefined without any. */
export function othersText({ others }: Reaction): string | undefined {
  return others.length === 0 ? undefined : `${others.length} from ${[...new Set(others)].join(', ')}`
}
