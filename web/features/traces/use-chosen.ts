import { useCallback, useRef, useState } from 'react'
import { streamCalls } from '../../api/calls.ts'
import type { OnSelect } from '../../components/data-table/row-choice.ts'
import { notify } from '../../components/toast.ts'
import { ALL_CHOSEN, type Chosen, choose, chosenShare, isChosen, NONE_CHOSEN } from './chosen.ts'
import type { Traces } from './use-traces.ts'

/** Ids that are named one by one in a request. */
const NAMED_MAX = 10_000

/** Which calls of a list are chosen. */
export interface ChosenCalls {
  chosen: Chosen
  share: 'none' | 'some' | 'all'
  has: (id: string) => boolean
  /** Stays the same, so that rows are not drawn again. */
  onSelect: OnSelect
  /** All calls of the list, or none where all are chosen already. */
  chooseAll: () => void
  /** The list has calls, and those that are shown are those it asks for. */
  canChooseAll: boolean
  clear: () => void
}

/** The choice among the calls of a list; those of another question are not chosen. */
export function useChosen(project: string, question: string, traces: Traces): ChosenCalls {
  const [state, setState] = useState({ question, chosen: NONE_CHOSEN })
  const chosen = state.question === question ? state.chosen : NONE_CHOSEN
  const set = (next: Chosen) => {
    if (next.ids.size > NAMED_MAX) tellLimit()
    else setState({ question, chosen: next })
  }
  const anchor = useRef(0)
  const latest = useRef<OnSelect>(() => undefined)
  latest.current = (id, index, how) => {
    const goes = isChosen(chosen, id) ? 'out' : 'in'
    if (how === 'one') {
      anchor.current = index
      return set(choose(chosen, [id], goes))
    }
    const [first, last] = [Math.min(anchor.current, index), Math.max(anchor.current, index)]
    if (last - first >= NAMED_MAX) return tellLimit()
    anchor.current = index
    void idsBetween(project, traces, { first, last })
      .then((ids) => set(choose(chosen, ids, 'in')))
      .catch((error: Error) => notify({ title: 'Those calls could not be chosen', detail: error.message }))
  }
  const share = chosenShare(chosen, traces.rowCount)
  return {
    chosen,
    share,
    has: useCallback((id: string) => isChosen(chosen, id), [chosen]),
    onSelect: useCallback<OnSelect>((id, index, how) => latest.current(id, index, how), []),
    chooseAll: () => set(share === 'all' ? NONE_CHOSEN : ALL_CHOSEN),
    canChooseAll: !traces.isPending && !traces.isStale && traces.rowCount > 0,
    clear: () => set(NONE_CHOSEN),
  }
}

function tellLimit(): void {
  notify({
    title: `At most ${NAMED_MAX.toLocaleString('en')} calls are chosen one by one`,
    detail: 'Filter the list to those you want, and choose all that match.',
  })
}

/** Ids of neighbours in the list, of which those far away may not be loaded. */
async function idsBetween(
  project: string,
  { rowAt, request }: Traces,
  { first, last }: { first: number; last: number },
): Promise<string[]> {
  const known = Array.from({ length: last - first + 1 }, (_, at) => rowAt(first + at)?.id)
  if (known.every((id) => id !== undefined)) return known
  const { filter, query, sort_by } = request
  const ids: string[] = []
  const page = { filter, query, sort_by, columns: ['id'], offset: first, limit: last - first + 1 }
  for await (const { id } of streamCalls(project, page)) ids.push(id)
  return ids
}
