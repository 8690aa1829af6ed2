import { useQuery } from '@tanstack/react-query'
import { hardwareQuery, versionsQuery } from '../../api/system.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { formatBytes } from '../../components/format.ts'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { MeterBar } from './meter-bar.tsx'

/** What the server runs on, and in which versions. */
export function Machine() {
  const { data, error, refetch } = useQuery(hardwareQuery)
  const { data: versions } = useQuery(versionsQuery)
  if (error !== null && data === undefined)
    return <ErrorState title="The machine could not be asked" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton className="h-32 w-full" />
  const { cpu, memory, accelerators } = data
  const all: [string, string][] = [
    ['Heddle', data.versions.heddle],
    ['Node', data.versions.node],
    ['System', data.versions.system],
    ...(versions === undefined ? [] : ([['Trace API', versions.trace_server_version]] as [string, string][])),
    ...Object.entries(data.engine_packages),
  ]
  const bundle = [
    ...all.map(([name, version]) => `${name} ${version}`),
    `${cpu.model}, ${cpu.cores} cores, ${cpu.architecture}`,
    ...accelerators.map(({ name, driver }) => `${name}, driver ${driver}`),
  ].join('\n')
  return (
    <div className="flex flex-col gap-4">
      <p className="text-xs text-muted">
        {cpu.model}, {cpu.cores} cores, {cpu.architecture}
      </p>
      <MeterBar
        name="Memory of the machine"
        value={memory.total_bytes - memory.free_bytes}
        max={memory.total_bytes}
        format={formatBytes}
      />
      {accelerators.map((accelerator, index) => (
        <MeterBar
          // biome-ignore lint/suspicious/noArrayIndexKey: several accelerators have one name
          key={index}
          name={`${accelerator.name}, driver ${accelerator.driver}`}
          value={accelerator.memory_used_bytes}
          max={accelerator.memory_bytes}
          format={formatBytes}
        />
      ))}
      {accelerators.length === 0 && (
        <p className="text-xs text-muted">No accelerator: models run on the processor.</p>
      )}
      <section aria-label="Versions">
        <h3 className="flex items-center gap-1 text-xs font-strong text-muted">
          Versions <CopyButton text={bundle} label="Copy all versions" />
        </h3>
        <dl className="tabular grid grid-cols-[repeat(auto-fill,minmax(12rem,1fr))] gap-x-6 text-xs">
          {all.map(([name, version]) => (
            <div key={name} className="flex h-6 items-center justify-between gap-2 border-b border-hair/40">
              <dt className="truncate text-muted">{name}</dt>
              <dd className="truncate text-strong" title={version}>
                {version}
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  )
}
