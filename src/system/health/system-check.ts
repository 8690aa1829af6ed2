import type { z } from 'zod'
import { messageOf } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'
import type { Compute } from '../../stores/compute/port.ts'
import { type ControlDb, pingControlDb } from '../../stores/control-db/port.ts'
import type { SystemCheckRes } from './wire.ts'

type Report = z.output<typeof SystemCheckRes>

export interface SystemCheckDeps {
  control: ControlDb
  compute: Compute
  /** Only the default one counts: another one that cannot be started may be no more than a mistyped name. */
  baseModel: string
}

/** Whether the training half can work. */
export function createSystemCheck({ control, compute, baseModel }: SystemCheckDeps): () => Promise<RawReply> {
  return async () => {
    const report: Report = {
      api: true,
      database: await check(() => pingControlDb(control)),
      // The server's own work: an event loop that answers is running.
      cpu_queue: await check(async () => {}),
      gpu_queue: await check(async () => {
        if (compute.unavailable !== undefined) throw new Error(compute.unavailable.reason)
        const own = compute.statuses().filter((part) => part.base_model === baseModel)
        const failed = own.find((part) => part.state === 'failed')
        if (failed !== undefined) throw new Error(failed.last_error ?? `${failed.name} has failed`)
      }),
      engine: engineOf(compute),
    }
    const healthy = report.database.success && report.cpu_queue.success && report.gpu_queue.success
    return {
      status: healthy ? 200 : 503,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(report),
    }
  }
}

function engineOf(compute: Compute): Report['engine'] {
  const { budget_bytes, used_bytes } = compute.memory()
  return {
    memory_budget_bytes: budget_bytes,
    memory_used_bytes: used_bytes,
    // The output of its program is not for every caller.
    parts: compute.statuses().map(({ last_lines: _, ...part }) => part),
  }
}

async function check(work: () => Promise<unknown>): Promise<Report['database']> {
  const started = performance.now()
  const errors: string[] = []
  await work().catch((error: unknown) => errors.push(messageOf(error)))
  return { success: errors.length === 0, duration: (performance.now() - started) / 1000, errors }
}
