import { useQuery } from '@tanstack/react-query'
import { readProgress } from '../../api/evaluations.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { ShareBar } from '../../components/bars.tsx'

/** How many rows of a running evaluation are done. */
export function Progress({ project, id }: { project: string; id: string }) {
  const { data } = useQuery({
    queryKey: ['calls', project, 'progress', id],
    queryFn: async ({ signal }) => (await readProgress(project, id, signal)) ?? null,
    refetchInterval: LIVE_MS,
  })
  if (data == null) return null
  const { completed, total } = data
  return (
    <span className="tabular inline-flex items-center gap-1.5 text-xs text-running">
      <ShareBar share={total === 0 ? 0 : completed / total} label={`${completed} of ${total} rows`} />
      {completed} of {total}
    </span>
  )
}
