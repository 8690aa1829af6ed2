import type { DiskUsage, Hardware, Router, ServerInfo } from '../../api/system.ts'
import { formatBytes } from '../../components/format.ts'

/** Everything that has a version, by name. */
export function versionsOf(hardware: Hardware, info: ServerInfo | undefined): [string, string][] {
  return [
    ['Heddle', hardware.versions.heddle],
    ['Node', hardware.versions.node],
    ['System', hardware.versions.system],
    ...(info === undefined ? [] : ([['Trace API', info.trace_server_version]] as [string, string][])),
    ...Object.entries(hardware.engine_packages),
  ]
}

interface SupportFacts {
  hardware: Hardware
  versions: ServerInfo | undefined
  router: Router | undefined
  disk: DiskUsage | undefined
}

/** Facts for a support request, one a line. */
export function supportText({ hardware, versions, router, disk }: SupportFacts): string {
  const { cpu, memory, accelerators } = hardware
  const parts = router?.engines.flatMap((engine) => engine.parts) ?? []
  return [
    ...versionsOf(hardware, versions).map(([name, version]) => `${name} ${version}`),
    `${cpu.model}, ${cpu.cores} cores, ${cpu.architecture}`,
    `memory ${formatBytes(memory.free_bytes)} free of ${formatBytes(memory.total_bytes)}`,
    ...accelerators.map(
      (one) =>
        `${one.name}, driver ${one.driver}, ${formatBytes(one.memory_used_bytes)} of ${formatBytes(one.memory_bytes)} used`,
    ),
    ...(disk === undefined
      ? []
      : [
          `disk ${formatBytes(disk.volume.free_bytes)} free of ${formatBytes(disk.volume.total_bytes)}`,
          `data ${disk.parts.map(({ name, bytes }) => `${name} ${formatBytes(bytes)}`).join(', ')}`,
        ]),
    ...parts.map(({ name, state, waiting_for, last_error }) =>
      [name, state, waiting_for, last_error].filter(Boolean).join(', '),
    ),
    ...(router?.unavailable == null ? [] : [router.unavailable]),
  ].join('\n')
}
