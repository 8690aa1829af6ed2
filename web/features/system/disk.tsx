import { useQuery } from '@tanstack/react-query'
import { type DiskUsage, diskQuery } from '../../api/system.ts'
import { formatBytes } from '../../components/format.ts'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { MeterBar } from './meter-bar.tsx'
import { StackedBar } from './stacked-bar.tsx'

type PartName = DiskUsage['parts'][number]['name']

const PARTS: Record<PartName, { word: string; look: string }> = {
  trace_db: { word: 'traces', look: 'bg-kind-agent' },
  control_db: { word: 'control database', look: 'bg-kind-llm' },
  checkpoints: { word: 'checkpoints', look: 'bg-kind-train' },
  artifacts: { word: 'artifacts and uploads', look: 'bg-kind-tool' },
  files: { word: 'files and trajectories', look: 'bg-kind-retriever' },
  engine: { word: 'work of the engine', look: 'bg-kind-eval' },
  logs: { word: 'logs', look: 'bg-warn' },
  other: { word: 'everything else', look: 'bg-kind-other' },
}

/** What the data folder holds, and how much room its disk has left. */
export function Disk() {
  const { data, error, refetch } = useQuery(diskQuery)
  if (error !== null && data === undefined)
    return <ErrorState title="The disk could not be measured" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton className="h-24 w-full" />
  const { volume } = data
  const held = data.parts.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes)
  const total = held.reduce((sum, { bytes }) => sum + bytes, 0)
  const words = held.map(({ name, bytes }) => `${PARTS[name].word} ${formatBytes(bytes)}`).join(', ')
  return (
    <div className="flex flex-col gap-4">
      <StackedBar
        label={`${formatBytes(total)} in the data folder: ${words}`}
        parts={held.map(({ name, bytes }) => ({
          name: PARTS[name].word,
          value: bytes,
          look: PARTS[name].look,
        }))}
        format={formatBytes}
        total={{ name: 'data folder', value: total }}
      />
      <MeterBar
        name={`Disk, ${formatBytes(volume.free_bytes)} free`}
        value={volume.total_bytes - volume.free_bytes}
        max={volume.total_bytes}
        format={formatBytes}
      />
      <p className="text-2xs text-muted wrap-anywhere">
        <code className="font-mono">{data.data_folder}</code>
        {!data.complete && ' – there are more files than are counted here'}
      </p>
    </div>
  )
}
