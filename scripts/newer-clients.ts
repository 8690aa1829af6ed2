/**
 * Says which clients of the version tests have newer versions in the package registries: `npm run clients`. The pins
 * are in tests/wire/requirements/ and package.json; nothing is changed.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readArguments } from './arguments.ts'
import { findPython } from './python-environments.ts'
import { ROOT } from './repository.ts'

const PYTHON_CLIENTS = { weave: 'clients', wandb: 'clients', 'openpipe-art': 'clients', openai: 'openai' }
const NPM_CLIENTS = ['weave', 'openai', '@ai-sdk/openai-compatible', 'ai']

const USAGE = `Usage: npm run clients

Says which clients of the version tests have newer versions in the package registries; status 1 where one has.
`

/** The newest version for a Python new enough for all of them; pip hides those that its own Python is too old for. */
function newestOnPyPI(name: string): string | undefined {
  const python = findPython([3, 12])
  const { stdout } = spawnSync(python, ['-m', 'pip', 'index', 'versions', name], { encoding: 'utf8' })
  return /^Available versions: ([^\s,]+)/m.exec(stdout ?? '')?.[1]
}

function newestOnNpm(name: string): string | undefined {
  return spawnSync('npm', ['view', name, 'version'], { encoding: 'utf8' }).stdout?.trim() || undefined
}

function pinnedIn(file: string, name: string): string | undefined {
  const text = readFileSync(join(ROOT, 'tests/wire/requirements', file), 'utf8')
  return new RegExp(`^${name}==(\\S+)`, 'm').exec(text)?.[1]
}

/** Whether there is a newer one. */
function report(
  registry: string,
  name: string,
  tested: string | undefined,
  newest: string | undefined,
): boolean {
  const verdict =
    newest === undefined
      ? 'the registry did not answer'
      : newest === tested
        ? 'is the newest'
        : `${newest} is newer`
  process.stdout.write(`${registry} ${name} ${tested}: ${verdict}\n`)
  return newest !== undefined && newest !== tested
}

readArguments(USAGE, { options: {}, strict: true })
const Versions = z.record(z.string(), z.string())
const Package = z.object({ dependencies: Versions, devDependencies: Versions })
const { dependencies, devDependencies } = Package.parse(
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')),
)
const pins = { ...dependencies, ...devDependencies }
const newer = [
  ...Object.entries(PYTHON_CLIENTS).map(([name, file]) =>
    report('PyPI', name, pinnedIn(`${file}-newest.txt`, name), newestOnPyPI(name)),
  ),
  ...NPM_CLIENTS.map((name) => report('npm', name, pins[name], newestOnNpm(name))),
]
process.exitCode = newer.includes(true) ? 1 : 0
