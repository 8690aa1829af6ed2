/**
 * `npm run screenshots [-- NAME …]`: pictures of every page into `docs/screenshots`, of data made by the real clients
 * and of a model that is trained for them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { SHOTS } from '../tests/ui/shots.ts'
import { readArguments, refuse } from './arguments.ts'
import { setUp } from './parts.ts'
import { NODE, ROOT } from './repository.ts'

const USAGE = `Usage: npm run screenshots [-- NAME …]

Takes pictures into docs/screenshots; of all pages where none is named:
  ${SHOTS.map(({ name }) => name).join('\n  ')}
`

const { positionals: names } = readArguments(USAGE, { options: {}, strict: true, allowPositionals: true })
const unknown = names.filter((name) => SHOTS.every((shot) => shot.name !== name))
if (unknown.length > 0) refuse(USAGE, `No shot is called ${unknown.join(', ')}`)
await setUp(['browser', 'clients', 'engine', 'web'])
const child = spawn(NODE, [join(ROOT, 'tests/ui/screenshots.ts'), ...names], {
  stdio: 'inherit',
})
const [code] = await once(child, 'close')
process.exitCode = code ?? 1
