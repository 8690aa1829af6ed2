import { useQuery } from '@tanstack/react-query'
import { Copy } from 'lucide-react'
import { diskQuery, hardwareQuery, routerQuery, versionsQuery } from '../../api/system.ts'
import { Button } from '../../components/button.tsx'
import { copyText } from '../../components/copy-button.tsx'
import { formatBytes } from '../../components/format.ts'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { notify } from '../../components/toast.ts'
import { MeterBar } from './meter-bar.tsx'
import { supportText, versionsOf } from './support-text.ts'

/** What the server runs on, and in which versions. */
export function Machine() {
  const { data, error, refetch } = useQuery(hardwareQuery)
  const { data: versions } = useQuery(versionsQuery)
  const { data: router } = useQuery(routerQuery)
  const { data: disk } = useQuery(diskQuery)
  if (error !== null && data === undefined)
    return <ErrorState title="The machine could not be asked" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton className="h-32 w-full" />
  const { cpu, memory, accelerators } = data
  const all = versionsOf(data, versions)
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
        <h3 className="flex items-center justify-between gap-2 pb-1 text-xs font-strong text-muted">
          Versions
          <Button
            size="small"
            icon={<Copy size={13} aria-hidden />}
            onClick={() =>
              void copyText(supportText({ hardware: data, versions, router, disk })).then(
                (ok) => ok && notify({ title: 'Versions, machine, engines and disk are copied' }),
              )
            }
          >
            Copy all, for a report
          </Button>
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
