import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from './client-program.ts'

/** A kind of system call that fails, or hangs until the disk recovers, for files whose path matches. */
export interface Fault {
  call: 'sync' | 'rename' | 'write'
  path: RegExp
  errno: 'EIO' | 'ENOSPC' | 'HOLD'
}

/** A disk that fails on demand for one server, which must be started by its launcher. */
export function createFailingDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-faults-'))
  const rules = join(folder, 'rules')

  function set(faults: readonly Fault[]): void {
    rmSync(`${rules}.hits`, { force: true })
    writeFileSync(rules, JSON.stringify(faults.map((fault) => ({ ...fault, path: fault.path.source }))))
  }

  function failures(): string[] {
    try {
      return readFileSync(`${rules}.hits`, 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }

  set([])
  return {
    launcher: [pythonIn('clients'), clientProgram('failing_disk.py'), rules],
    fail: (...faults: Fault[]) => set(faults),
    recover: () => set([]),
    /** The calls that have failed since the last change. */
    failures,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
