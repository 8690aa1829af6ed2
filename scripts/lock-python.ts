/**
 * `npm run lock:python`: writes the hashes of every file of every pinned Python package into the requirement files, so
 * that pip installs nothing else. Run it after a version has been changed; comments at the top of a file stay.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { readArguments } from './arguments.ts'
import { setUp } from './parts.ts'
import { environmentFolder, lockedRequirements } from './python-environments.ts'
import { ROOT } from './repository.ts'

const FLAGS = [
  '--no-deps',
  '--generate-hashes',
  '--universal',
  '--no-header',
  '--no-annotate',
  '--no-python-downloads',
]

const USAGE = `Usage: npm run lock:python

Writes the hashes of every file of every pinned Python package into the requirement files.
`

readArguments(USAGE, { options: {}, strict: true })
await setUp(['locks'])
const uv = join(environmentFolder('locks'), 'bin/uv')
for (const { file, python } of lockedRequirements()) {
  const text = readFileSync(file, 'utf8')
  const comment = /^(#.*\n)*/.exec(text)?.[0] ?? ''
  const pinned = text.replaceAll(/ \\\n +--hash=\S+/g, '')
  const locked = execFileSync(uv, ['pip', 'compile', ...FLAGS, '--python-version', python.join('.'), '-'], {
    cwd: dirname(file),
    input: pinned,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  writeFileSync(file, comment + locked)
  process.stdout.write(`${relative(ROOT, file)}\n`)
}
