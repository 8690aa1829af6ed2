import { useQuery } from '@tanstack/react-query'
import { readRows, type StoredRow } from '../../api/objects.ts'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { RowPeek } from '../../components/row-peek.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'

interface DatasetRowPeekProps {
  project: string
  /** The digest of its table; undefined until it is known. */
  table: string | undefined
  /** Its place in the table, from 0. */
  index: number
  /** The row where the list has it, which keeps those in view alone. */
  listed: StoredRow | undefined
  onClose: () => void
}

/** One row of a dataset, whole, wherever in the dataset it is. */
export function DatasetRowPeek({ project, table, index, listed, onClose }: DatasetRowPeekProps) {
  const one = useQuery({
    queryKey: ['tables', project, table, 'at', index],
    enabled: table !== undefined && listed === undefined,
    queryFn: async ({ signal }) => {
      const [found] = await readRows(project, { digest: table ?? '', offset: index, limit: 1 }, signal)
      return found ?? null
    },
  })
  const row = listed ?? one.data
  return (
    <RowPeek index={index} onClose={onClose}>
      {row === undefined && one.error !== null ? (
        <ErrorState
          title="The row could not be loaded"
          error={one.error}
          onRetry={() => void one.refetch()}
        />
      ) : row === null ? (
        <EmptyState title={`The dataset has no row ${index + 1}`} />
      ) : (
        <div className="flex min-h-0 flex-1 flex-col px-3 py-2">
          {row === undefined ? (
            <Skeleton className="h-40 w-full" />
          ) : (
            <JsonView key={row.digest} label="Row" value={row.val} maxHeight="fill" />
          )}
        </div>
      )}
    </RowPeek>
  )
}
