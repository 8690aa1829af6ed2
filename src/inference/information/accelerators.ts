import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'

/** `nvidia-smi` answers within a second, unless the driver hangs. */
const NVIDIA_SMI_MS_MAX = 5_000

/** How old an answer may be: each one is a process. */
const FRESH_MS = 10_000

export interface Accelerator {
  name: string
  memory_bytes: number
  memory_used_bytes: number
  driver: string
}

const Row = z
  .tuple([z.string(), z.coerce.number(), z.coerce.number(), z.string()])
  .transform(([name, total, used, driver]) => ({
    name,
    memory_bytes: total * 1024 ** 2,
    memory_used_bytes: used * 1024 ** 2,
    driver,
  }))

const ask = promisify(execFile)

/** The GPUs of this machine, queried at most every few seconds; none where no driver answers. */
export function createAccelerators(): () => Promise<Accelerator[]> {
  let answer: Promise<Accelerator[]> = Promise.resolve([])
  let askedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - askedAt > FRESH_MS) {
      askedAt = performance.now()
      answer = listed()
    }
    return answer
  }
}

async function listed(): Promise<Accelerator[]> {
  const query = '--query-gpu=name,memory.total,memory.used,driver_version'
  const options = { timeout: NVIDIA_SMI_MS_MAX }
  try {
    const { stdout } = await ask('nvidia-smi', [query, '--format=csv,noheader,nounits'], options)
    return acceleratorsIn(stdout)
  } catch {
    return []
  }
}

/** Reads one line a GPU, sizes in MiB; lines of another form, as of one that has fallen off the bus, are left out. */
export function acceleratorsIn(csv: string): Accelerator[] {
  return csv.split('\n').flatMap((line) => {
    const row = Row.safeParse(line.split(',').map((cell) => cell.trim()))
    return row.success ? [row.data] : []
  })
}
