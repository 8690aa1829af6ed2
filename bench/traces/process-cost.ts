/** What a server costs while it runs, as Linux counts it; undefined on other systems. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Linux counts processor time in hundredths of a second, on every machine that Node runs on. */
const TICKS_PER_SECOND = 100

/** Bytes of a block in a file's status. */
const BLOCK_BYTES = 512

const isLinux = existsSync('/proc/self/smaps_rollup')

/** Between two looks at the memory of a server: each walks the page tables of its processes, some milliseconds. */
const MEMORY_LOOK_MS = 1_000

/** The memory that a process and its children hold together, in MiB: pages that they share are counted once. */
export function heldMib(pid: number): number {
  if (!isLinux) return Number.NaN
  return sum(family(pid).map(heldKib)) / 1024
}

/** The most memory that a server held at any look. */
export interface MemoryWatch extends Disposable {
  /** In MiB, since the watch began or since this was last asked. */
  takePeakMib(): number
}

/** Looks each second at the memory of a process and its children. */
export function watchMemory(pid: number): MemoryWatch {
  let peak = heldMib(pid)
  const timer = setInterval(() => (peak = Math.max(peak, heldMib(pid))), MEMORY_LOOK_MS)
  return {
    takePeakMib() {
      const held = heldMib(pid)
      const taken = Math.max(peak, held)
      peak = held
      return taken
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** A process and those that it has started, whose main thread starts them. */
function family(pid: number): number[] {
  const children = statusOf(pid, `task/${pid}/children`).split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}

function heldKib(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(statusOf(pid, 'smaps_rollup'))?.[1] ?? 0)
}

/** A file that the kernel has of a process; empty where it has ended. */
function statusOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return ''
    throw error
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** The share of one core that a process and its children take in some milliseconds. */
export async function coreShare(pid: number, ms: number): Promise<number | undefined> {
  if (!isLinux) return undefined
  const before = sum(family(pid).map(cpuSeconds))
  await new Promise((wake) => setTimeout(wake, ms))
  return (1000 * (sum(family(pid).map(cpuSeconds)) - before)) / ms
}

function cpuSeconds(pid: number): number {
  // The name of the program comes second and may have spaces.
  const fields = statusOf(pid, 'stat').split(') ')[1]?.split(' ')
  return (Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0)) / TICKS_PER_SECOND
}

/** The bytes that a file or a folder takes on the disk; a file with several names counts once. */
export function diskBytes(path: string, seen = new Set<number>()): number {
  // Files come and go while the server tidies up.
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined || seen.has(status.ino)) return 0
  seen.add(status.ino)
  const names = status.isDirectory() ? namesIn(path) : []
  return names.reduce((sum, name) => sum + diskBytes(join(path, name), seen), status.blocks * BLOCK_BYTES)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
