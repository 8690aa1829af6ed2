/**
 * Whether acknowledged data survives a power failure. The data folder is on an ext4 file system of its own, which is
 * shut down without writing what it holds in memory, its journal included: only synced data remains. Then the server is
 * started again on it. Needs Linux, root and loop devices.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { OwnServer } from '../scripts/own-server.ts'
import { startChild } from './child.ts'
import { writeResults } from './results-file.ts'
import type { GoodOutcome, GoodTask } from './soak/good-clients.ts'
import { pause, startAgain } from './soak/restarts.ts'

/** A file system that can lose what was not synced. */
interface Disk {
  path: string
  mount(): void
  /** As when the power fails: nothing more is written. */
  shutDown(): void
  unmount(): void
  remove(): void
}

const Health = z.looseObject({ status: z.string() })

/** Power fails after so long on average. */
const POWER_MS = 5_000

const DISK_BYTES = 4 * 1024 ** 3

/** `EXT4_IOC_SHUTDOWN`, `_IOR('X', 125, __u32)`, with the flag to write nothing more, not even the journal. */
const SHUT_DOWN = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '10' }, json: { type: 'string' } },
  })
  const folder = mkdtempSync(join(tmpdir(), 'heddle-power-'))
  const disk = createDisk(folder)
  const good = startChild<GoodTask, GoodOutcome | undefined>(
    new URL('./soak/good-clients.ts', import.meta.url),
  )
  let server: OwnServer | undefined
  try {
    disk.mount()
    server = await startAgain(folder, join(disk.path, 'data'))
    await good.tell({ kind: 'up', url: server.url })
    await good.tell({ kind: 'start' })
    for (let round = 1; round <= Number(values.rounds); round++) {
      await pause(POWER_MS * (0.5 + Math.random()))
      // While it is stopped, the server answers nothing that a machine without power could not have answered.
      process.kill(server.pid, 'SIGSTOP')
      await good.tell({ kind: 'down' })
      disk.shutDown()
      process.kill(server.pid, 'SIGKILL')
      await server.closed
      disk.unmount()
      disk.mount()
      server = await startAgain(folder, join(disk.path, 'data'))
      await good.tell({ kind: 'up', url: server.url })
      process.stdout.write(`\rpower failed ${round} times`)
    }
    process.stdout.write('\n')
    await good.tell({ kind: 'stop' })
    const outcome = await good.tell({ kind: 'verify' })
    if (outcome === undefined) throw new Error('The clients do not say what is missing')
    const health = Health.parse(await (await fetch(`${server.url}/health`)).json())
    show({ ...outcome, health })
    writeResults(values.json, { rounds: Number(values.rounds), ...outcome, health })
  } finally {
    good.kill()
    server?.stop()
    await server?.closed
    disk.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A file system in a file. */
function createDisk(folder: string): Disk {
  const image = join(folder, 'disk.img')
  const path = join(folder, 'disk')
  let isMounted = false
  mkdirSync(path)
  execFileSync('truncate', ['--size', String(DISK_BYTES), image])
  execFileSync('mkfs.ext4', ['-q', image])
  function unmount(): void {
    execFileSync('umount', [path])
    isMounted = false
  }
  return {
    path,
    mount() {
      execFileSync('mount', ['-o', 'loop', image, path])
      isMounted = true
    },
    shutDown() {
      execFileSync('python3', ['-c', SHUT_DOWN, path])
    },
    unmount,
    remove() {
      if (isMounted) unmount()
    },
  }
}

function show({
  lost,
  acknowledged,
  counts,
  failures,
  health,
}: GoodOutcome & { health: z.output<typeof Health> }): void {
  const written = Object.entries(acknowledged)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ')
  const checks: [holds: boolean, text: string, details: string[]][] = [
    [lost.length === 0, `acknowledged and missing: ${lost.length} of ${written}`, lost.slice(0, 10)],
    [counts.failed === 0, `failed requests: ${counts.failed} of ${counts.requests}`, failures],
    [
      health.status === 'ok',
      `health: ${health.status}`,
      health.status === 'ok' ? [] : [JSON.stringify(health)],
    ],
  ]
  for (const [holds, text, details] of checks) {
    process.stdout.write(`${holds ? 'holds' : 'FAILS'}  ${text}\n`)
    for (const detail of details) process.stdout.write(`         ${detail}\n`)
  }
  if (checks.some(([holds]) => !holds)) process.exitCode = 1
}

await main()
