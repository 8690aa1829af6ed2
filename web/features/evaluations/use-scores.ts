import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type EvaluationResults, readScores } from '../../api/evaluations.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import type { RunRow } from './run-row.ts'

/** Evaluations of one request; each may have thousands of trials. */
const RUNS_AT_ONCE = 20

/** Scores of the evaluations in view. */
export interface LoadedScores {
  scores: Scores
  error: Error | null
  retry: () => void
  /** Reports the rows in view. */
  onRange: (first: number, last: number) => void
}

/** Results of the trials of the evaluations in view, by their ids; the list itself has only the clients' summaries. */
export function useScores(project: string, rows: readonly RunRow[]): LoadedScores {
  const [view, setView] = useState({ first: 0, last: RUNS_AT_ONCE - 1 })
  const groups = groupsIn(rows, view)
  const results = useQueries({
    queries: groups.map((group) => {
      const ids = group.map(({ id }) => id)
      const isRunning = group.some(({ status }) => status === 'running')
      return {
        queryKey: ['calls', project, 'scores', ids, isRunning],
        placeholderData: keepPreviousData,
        staleTime: isRunning ? 0 : Number.POSITIVE_INFINITY,
        refetchInterval: isRunning ? LIVE_MS : (false as const),
        queryFn: ({ signal }: { signal: AbortSignal }) => readScores(project, ids, signal),
      }
    }),
  })
  const failed = results.find(({ error }) => error !== null)
  const loaded = groups.map((group, index) => `${group[0]?.id} ${results[index]?.dataUpdatedAt}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lists are new each time, what is in them is not
  const scores = useMemo(
    () =>
      scoresOf(
        groups,
        results.map(({ data }) => data),
      ),
    [loaded],
  )
  return {
    scores,
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
    onRange: (first: number, last: number) =>
      setView((old) => (old.first === first && old.last === last ? old : { first, last })),
  }
}

/** Undefined for an evaluation without trials; it is not in it until that is known. */
export type Scores = ReadonlyMap<string, EvaluationResults | undefined>

/** The rows in view in groups that stay the same while a person scrolls. */
function groupsIn(rows: readonly RunRow[], { first, last }: { first: number; last: number }): RunRow[][] {
  const groups: RunRow[][] = []
  const start = Math.floor(first / RUNS_AT_ONCE) * RUNS_AT_ONCE
  for (let at = start; at <= last && at < rows.length; at += RUNS_AT_ONCE)
    groups.push(rows.slice(at, at + RUNS_AT_ONCE))
  return groups
}

function scoresOf(
  groups: readonly RunRow[][],
  loaded: readonly (readonly EvaluationResults[] | undefined)[],
): Scores {
  const scores = new Map<string, EvaluationResults | undefined>()
  for (const [index, group] of groups.entries()) {
    const results = loaded[index]
    if (results === undefined) continue
    for (const { id } of group) scores.set(id, undefined)
    for (const one of results) scores.set(one.evaluation_call_id, one)
  }
  return scores
}
