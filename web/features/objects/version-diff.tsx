import { useQuery } from '@tanstack/react-query'
import { objectQuery, type StoredObject, sourceQuery } from '../../api/objects.ts'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { LineDiff } from './line-diff.tsx'

/** A longer value is not compared line by line: the page would block for it. */
const CHARS_MAX = 500_000

interface VersionDiffProps {
  project: string
  name: string
  found: StoredObject
  /** The digest of the other version. */
  other: string
}

/** Two versions of an object side by side, the older one first, whichever of them was opened. */
export function VersionDiff({ project, name, found, other }: VersionDiffProps) {
  const second = useQuery(objectQuery(project, name, other))
  const sources = [useQuery(sourceQuery(project, found)), useQuery(sourceQuery(project, second.data))]
  if (second.error !== null)
    return (
      <ErrorState
        title="The other version could not be loaded"
        error={second.error}
        onRetry={() => void second.refetch()}
      />
    )
  if (second.data === undefined || sources.some(({ isLoading }) => isLoading))
    return <Skeleton className="h-40 w-full" />
  const versions = [
    { object: found, source: sources[0]?.data },
    { object: second.data, source: sources[1]?.data },
  ].sort((a, b) => a.object.version_index - b.object.version_index)
  const [before, after] = versions
  if (before === undefined || after === undefined) return null
  return (
    <>
      <div className="grid grid-cols-2 gap-4 text-xs text-muted">
        {versions.map(({ object }) => (
          <p key={object.digest} className="min-w-0 truncate">
            <span className="font-strong text-strong">v{object.version_index}</span>, made{' '}
            <Time iso={object.created_at} />
          </p>
        ))}
      </div>
      {(before.source ?? after.source) != null && (
        <LineDiff title="Code" before={before.source ?? ''} after={after.source ?? ''} />
      )}
      <ValueDiff before={textOf(before.object)} after={textOf(after.object)} />
    </>
  )
}

function ValueDiff({ before, after }: { before: string; after: string }) {
  if (before.length + after.length > CHARS_MAX)
    return (
      <EmptyState title="The values are too large to be compared here">
        <p>Each of them can be looked at by itself.</p>
      </EmptyState>
    )
  return <LineDiff title="Value" before={before} after={after} />
}

const textOf = ({ val }: StoredObject) => JSON.stringify(val, null, 2)
