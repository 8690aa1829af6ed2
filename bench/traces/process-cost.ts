/** What a server costs while it runs, as Linux counts it; undefined on other systems. */
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Linux counts processor time in hundredths of a second, on every machine that Node runs on. */
const TICKS_PER_SECOND = 100

/** Bytes of a block in a file's status. */
const BLOCK_BYTES = 512

const isLinux = existsSync('/proc/self/clear_refs')

/** The most memory a process has held, in MiB, since it started or since `forgetPeak`. */
export function peakMib(pid: number): number | undefined {
  if (!isLinux) return undefined
  const kib = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}

export function forgetPeak(pid: number): void {
  if (isLinux) writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** The share of one core that a process takes in some milliseconds. */
export async function coreShare(pid: number, ms: number): Promise<number | undefined> {
  if (!isLinux) return undefined
  const before = cpuSeconds(pid)
  await new Promise((wake) => setTimeout(wake, ms))
  return (1000 * (cpuSeconds(pid) - before)) / ms
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
