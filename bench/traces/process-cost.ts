/** What a server costs while it runs, as Linux counts it; undefined on other systems. */
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Linux counts processor time in hundredths of a second, on every machine that Node runs on. */
const TICKS_PER_SECOND = 100

/** Bytes of a block in a file's status. */
const BLOCK_BYTES = 512

const isLinux = existsSync('/proc/self/clear_refs')

/**
 * The most memory a process and its children have held, in MiB, since they started or since `forgetPeak`: the sum of the
 * peak of each.
 */
export function peakMib(pid: number): number | undefined {
  if (!isLinux) return undefined
  return sum(family(pid).map((one) => statusKib(one, 'VmHWM') / 1024))
}

/** The memory that a process and its children hold, in MiB. */
export function rssMib(pid: number): number {
  if (!isLinux) return Number.NaN
  return sum(family(pid).map((one) => statusKib(one, 'VmRSS') / 1024))
}

export function forgetPeak(pid: number): void {
  if (isLinux) for (const one of family(pid)) writeFileSync(`/proc/${one}/clear_refs`, '5')
}

/** A process and those that it has started, whose main thread starts them. */
function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}

function statusKib(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
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
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')
  return (Number(fields?.[11]) + Number(fields?.[12])) / TICKS_PER_SECOND
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
