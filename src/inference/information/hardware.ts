import { arch, availableParallelism, cpus, freemem, release, totalmem, type } from 'node:os'
import type { z } from 'zod'
import type { Compute } from '../../stores/compute/port.ts'
import { createAccelerators } from './accelerators.ts'
import { enginePackages } from './engine-packages.ts'
import type { HardwareRes } from './wire.ts'

type Hardware = z.input<typeof HardwareRes>

/** Describes the machine that this server runs on; an engine elsewhere has its own. */
export function createHardware({
  version,
  compute,
}: {
  version: string
  compute: Compute
}): () => Promise<Hardware> {
  const accelerators = createAccelerators()
  return async () => {
    const found = await accelerators()
    const isInstalled = compute.unavailable === undefined
    return {
      cpu: { model: cpus()[0]?.model ?? '', cores: availableParallelism(), architecture: arch() },
      memory: { total_bytes: totalmem(), free_bytes: freemem() },
      accelerators: found,
      engine_memory: compute.memory(),
      versions: { heddle: version, node: process.versions.node, system: `${type()} ${release()}` },
      engine_packages: isInstalled ? await enginePackages(found.length > 0 ? 'gpu' : 'cpu') : {},
    }
  }
}
