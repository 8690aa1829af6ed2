import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { directionsQuery, saveDirection } from '../../api/metric-directions.ts'
import { useReadOnly } from '../../api/read-only.ts'
import { IconButton } from '../../components/button.tsx'
import { notify } from '../../components/toast.ts'
import type { Metric } from './metrics.ts'

/** Whether more or less of a metric is better; a click reverses it for the whole project. */
export function MetricDirection({ project, metric }: { project: string; metric: Metric }) {
  const queries = useQueryClient()
  const readOnly = useReadOnly(project)
  const { id, isLessBetter } = metric
  const turn = useMutation({
    mutationFn: (turned: Parameters<typeof saveDirection>) => saveDirection(...turned),
    onSuccess: (directions, [of]) => queries.setQueryData(directionsQuery(of).queryKey, directions),
    onError: (error) => notify({ title: `Not kept: ${error.message}` }),
  })
  return (
    <IconButton
      size="small"
      className="size-5 text-muted"
      label={`${isLessBetter ? 'Less' : 'More'} ${id} is better: ${readOnly ?? 'turn round'}`}
      icon={isLessBetter ? <ArrowDown size={12} /> : <ArrowUp size={12} />}
      disabled={turn.isPending || readOnly !== undefined}
      onClick={() => turn.mutate([project, id, isLessBetter ? 'more' : 'less'])}
    />
  )
}
