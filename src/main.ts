/** The program: `node src/main.ts`. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { env } from 'node:process'

/**
 * MiB of each half of V8's young generation, which takes up to three of them and grows to its limit while modules are
 * loaded. Half of V8's own limit saves 35 MiB at rest and costs no reads under load; a quarter saves 90 MiB and a tenth
 * of the reads. V8 takes it from the command line alone.
 */
const HALF_FLAG = '--max-semi-space-size'
const HALF_MIB = 32

/**
 * Compiled modules are kept for the next start, which takes a third less time: beside the packages, since in the
 * temporary folder of the machine others could put their own. As a variable, it holds for the first module too, and for
 * the process of the database.
 */
const COMPILED = join(import.meta.dirname, '../node_modules/.cache/heddle')

if (!process.execArgv.some((flag) => flag.startsWith(HALF_FLAG))) {
  const command = [`${HALF_FLAG}=${HALF_MIB}`, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, [process.execPath, ...command], {
    ...env,
    NODE_COMPILE_CACHE: COMPILED,
  })
}

enableCompileCache(COMPILED)
await import('./server.ts')
