import { writeFileSync } from 'node:fs'
import { availableParallelism, platform, release } from 'node:os'

/** Writes what was measured, and on what machine, to the file that was requested, if one was. */
export function writeResults(file: string | undefined, results: object): void {
  if (file === undefined) return
  const machine = { cores: availableParallelism(), system: `${platform()} ${release()}` }
  writeFileSync(file, `${JSON.stringify({ machine, ...results }, null, 2)}\n`)
  process.stdout.write(`written to ${file}\n`)
}
