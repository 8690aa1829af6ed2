import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { askResults, type ResultsRequest, type ResultsRow } from '../../api/evaluations.ts'
import { exceptionText } from '../../api/exception-text.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { formatDuration } from '../../components/format.ts'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { RowPeek } from '../../components/row-peek.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { WITH_INPUTS } from './results-request.ts'
import { RunLetter } from './run-letter.tsx'

interface ResultPeekProps {
  name: ProjectName
  runs: readonly string[]
  /** One of the runs has not ended. */
  isRunning: boolean
  /** Its place in the list. */
  index: number
  /** What the list asks for. */
  request: ResultsRequest
  onClose: () => void
  /** See {@link RowPeek}. */
  onMove?: (by: -1 | 1) => void
}

/** One row in full: its input, each run's output, and the scores. */
export function ResultPeek({ name, runs, isRunning, index, request, onClose, onMove }: ResultPeekProps) {
  const project = projectId(name)
  const { data, error, isPlaceholderData, refetch } = useQuery({
    queryKey: ['calls', project, 'result row', request, index, isRunning],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const one = { limit: 1, offset: index }
      return (await askResults(project, { ...request, ...WITH_INPUTS, ...one }, signal)).rows[0] ?? null
    },
  })
  return (
    <RowPeek index={index} onClose={onClose} {...(onMove !== undefined && { onMove })}>
      {error !== null ? (
        <ErrorState title="The row could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : data === null ? (
        <EmptyState title="The row is not among these results" />
      ) : (
        <div
          aria-busy={isPlaceholderData}
          className="thin-scroll flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-3 py-2 aria-busy:opacity-50"
        >
          {data === undefined ? (
            <Skeleton className="h-40 w-full" />
          ) : (
            <>
              <JsonView
                key={`row ${data.row_digest}`}
                label="Input"
                value={data.raw_data_row}
                maxHeight={240}
              />
              {runs.map((run, at) => (
                <RunResult key={run} name={name} row={data} run={run} index={at} />
              ))}
            </>
          )}
        </div>
      )}
    </RowPeek>
  )
}

function RunResult({
  name,
  row,
  run,
  index,
}: {
  name: ProjectName
  row: ResultsRow
  run: string
  index: number
}) {
  const trials = row.evaluations.find(({ evaluation_call_id }) => evaluation_call_id === run)?.trials ?? []
  return (
    <section aria-label={`Run ${index + 1}`} className="rounded-md border border-hair">
      {trials.length === 0 && (
        <p className="flex items-center gap-2 px-3 py-2 text-muted">
          <RunLetter index={index} /> has no such row
        </p>
      )}
      {trials.map((trial, at) => (
        <div key={trial.predict_and_score_call_id} className="px-3 py-1">
          <h3 className="flex h-8 items-center gap-2 text-xs text-muted">
            <RunLetter index={index} />
            {trials.length > 1 && <span>trial {at + 1}</span>}
            <span className="tabular">
              {formatDuration(
                trial.model_latency_seconds === null ? null : trial.model_latency_seconds * 1000,
              )}
            </span>
            <Link
              to="/$entity/$project/calls/$id"
              params={{ ...name, id: trial.predict_and_score_call_id }}
              className="text-link hover:underline"
            >
              Trace
            </Link>
          </h3>
          {trial.error ? (
            <p
              role="note"
              aria-label="Error"
              className="mb-2 rounded-md bg-error-soft p-2 text-sm text-error wrap-anywhere"
            >
              {exceptionText(trial.error).line}
            </p>
          ) : (
            <JsonView label="Output" value={trial.model_output} maxHeight={240} />
          )}
          <JsonView label="Scores" value={trial.scores} maxHeight={240} />
        </div>
      ))}
    </section>
  )
}
