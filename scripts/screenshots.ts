/**
 * `npm run screenshots [-- NAME …]`: pictures of every page into `docs/screenshots`, of data made by the real clients
 * and of a model that is trained for them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setUp } from './parts.ts'
import { NODE, ROOT } from './repository.ts'

await setUp(['browser', 'clients', 'engine', 'web'])
const child = spawn(NODE, [join(ROOT, 'tests/ui/screenshots.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
})
const [code] = await once(child, 'close')
process.exitCode = code ?? 1
