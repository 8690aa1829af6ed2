/** The program: `node src/main.ts`. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Compiled modules are kept for the next start, which takes a third less time: beside the packages, since in the temporary folder of
// the machine others could put their own.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/heddle'))
await import('./server.ts')
