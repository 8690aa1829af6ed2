/**
 * Set-up: brings what a fresh clone lacks. Plain JavaScript for the machine's own Node, because it runs before anything
 * is installed; without work to do it only compares hashes.
 *
 *   node scripts/setup.mjs [packages] [engine] [clients] [reference] [tools] [generators] [matrix] [bench] [peers] [locks] [web] [browser]
 *
 * All of them when none is named.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromiumPath, findChromium, startsUp, waysToChromium } from './chromium.mjs'
import { lockFolder } from './folder-lock.mjs'
import { showProgress } from './progress.mjs'
import {
  acceleratorOf,
  COMPLETE_MARKER,
  engineRequirementFiles,
  pythonEnvFolder,
  pythonOf,
} from './python-env.mjs'
import { finishWeb, outdatedWeb } from './web-build.mjs'

export const ROOT = resolve(fileURLToPath(import.meta.url), '../..')

/** PyTorch is named alone first: with it in place, no later package fetches another build. */
const TORCH = 'torch==2.13.0'

/** Runs TypeScript as it is. */
const OWN_NODE_MAJOR_MIN = 24

const PYTHON_MIN = [3, 11]
const PYTHON_NAMES = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python']

/** What the newest openpipe-art needs. */
const NEWEST_CLIENTS_PYTHON = [3, 12]

/** Where Python environments live; all clones of one user share them. */
export function cacheFolder() {
  const { HEDDLE_CACHE, XDG_CACHE_HOME } = process.env
  return resolve(HEDDLE_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'heddle'))
}

/** The Python environments by name: the files that define each, and the pip calls that fill it. */
function environments() {
  const engineFiles = engineRequirementFiles(ROOT, process.env.PATH ?? '')
  const clientFiles = [join(ROOT, 'demo/requirements.txt')]
  const referenceFiles = [join(ROOT, 'tests/differential/requirements.txt')]
  const toolFiles = [join(ROOT, 'engine/requirements-dev.txt')]
  const benchFiles = [join(ROOT, 'bench/requirements.txt')]
  const peerFiles = [join(ROOT, 'bench/requirements-peers.txt')]
  const lockFiles = [join(ROOT, 'scripts/requirements.txt')]
  const onCpu = acceleratorOf(process.env.PATH ?? '') === 'cpu'
  return {
    engine: {
      what: onCpu ? 'engine for the CPU (vLLM, PyTorch)' : 'engine for NVIDIA GPUs (vLLM, PyTorch)',
      files: engineFiles,
      installs: onCpu ? [[TORCH], ['--no-deps', '-r', engineFiles[0]]] : [['-r', engineFiles[0]]],
    },
    clients: {
      what: 'clients (weave, openpipe-art, openai)',
      files: clientFiles,
      installs: [['--no-deps', '-r', clientFiles[0]]],
    },
    reference: {
      what: 'what the trace API is compared with (the server code in weave)',
      files: referenceFiles,
      installs: [['--no-deps', '-r', referenceFiles[0]]],
    },
    tools: {
      what: 'Python checkers (ruff, pytest)',
      files: toolFiles,
      installs: [['--no-deps', '-r', toolFiles[0]]],
    },
    ...testEnvironments(),
    bench: {
      what: 'what the benchmarks compare with (TRL)',
      files: benchFiles,
      installs: [['--no-deps', '-r', benchFiles[0]]],
    },
    locks: {
      what: 'what writes the hashes of Python packages (uv)',
      files: lockFiles,
      installs: [['--no-deps', '-r', lockFiles[0]]],
    },
    peers: {
      what: 'trace servers that the benchmarks compare with (Phoenix, MLflow)',
      files: peerFiles,
      installs: [['--no-deps', '-r', peerFiles[0]]],
    },
  }
}

/** Those of the wire tests: other versions of the clients, and a generator of clients. */
function testEnvironments() {
  const environment = (name, what, more = {}) => {
    const files = [join(ROOT, `tests/wire/requirements/${name}.txt`)]
    return { what, files, installs: [['--no-deps', '-r', files[0]]], ...more }
  }
  return {
    generators: environment('generators', 'a generator of Python clients (openapi-python-client)'),
    'clients-oldest': environment('clients-oldest', 'the oldest supported clients'),
    'clients-newest': environment('clients-newest', 'the newest clients', { python: NEWEST_CLIENTS_PYTHON }),
    'openai-oldest': environment('openai-oldest', 'the oldest supported openai'),
    'openai-newest': environment('openai-newest', 'the newest openai'),
  }
}

/**
 * The requirement files that name the hash of each file that pip may install, and the oldest Python they are for. Not among them: PyTorch for the CPU, which
 * each index builds its own way, and the engine for GPUs, whose packages follow the driver.
 */
export function lockedRequirements() {
  const { engine: _, ...others } = environments()
  return [
    { file: join(ROOT, 'engine/requirements-cpu.txt'), python: PYTHON_MIN },
    ...Object.values(others).map(({ files: [file], python = PYTHON_MIN }) => ({ file, python })),
  ]
}

/** The folder of an environment, made or not. */
export function environmentFolder(name) {
  return pythonEnvFolder(cacheFolder(), name, environments()[name].files)
}

/** Installs npm packages when the lock file has changed since they were installed. */
export async function ensurePackages() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'))
  const stamp = join(ROOT, 'node_modules', '.heddle-lock')
  const wanted = createHash('sha256').update(lock).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  const total = Object.keys(JSON.parse(lock.toString('utf8')).packages).length - 1
  await runSteps(`npm packages`, [
    {
      command: ['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=http'],
      total,
      // npm names each package file it gets, from the network or its cache.
      counts: /http (fetch|cache) .*\.tgz/,
      shows: /\/([^/]+)\.tgz/,
    },
  ])
  provideNode()
  writeFileSync(stamp, wanted)
}

/**
 * The Node that runs everything is a package with a locked hash where npm has one, which is on Linux; elsewhere it is
 * the one that runs this.
 */
function provideNode() {
  const program = join(ROOT, 'node_modules/.bin/node')
  if (existsSync(program)) return
  const major = Number.parseInt(process.versions.node, 10)
  if (major < OWN_NODE_MAJOR_MIN)
    throw new Error(
      `Heddle runs on Node ${OWN_NODE_MAJOR_MIN} or newer, which it brings along on Linux; here it has to be installed (this is ${process.version})`,
    )
  symlinkSync(process.execPath, program)
}

/** Makes one Python environment unless it is there. Interrupted, it continues from pip's own cache. */
export async function ensurePython(name) {
  const { what, files, installs, python: pythonMin = PYTHON_MIN } = environments()[name]
  const folder = pythonEnvFolder(cacheFolder(), name, files)
  if (pythonOf(folder) !== undefined) return
  const python = findPython(pythonMin)
  const release = await lockFolder(folder)
  try {
    if (pythonOf(folder) !== undefined) return
    mkdirSync(join(folder, '..'), { recursive: true })
    const pip = [
      join(folder, 'bin', 'python'),
      '-m',
      'pip',
      '--disable-pip-version-check',
      '--no-input',
      'install',
    ]
    await runSteps(what, [
      { command: [python, '-m', 'venv', '--clear', folder], total: 0 },
      ...installs.map((requirements) => ({
        command: [...pip, '--progress-bar=off', ...requirements],
        total: requirementCount(requirements),
        counts: /^(Collecting|Requirement already satisfied:) /,
        shows: /^(?:Collecting|Downloading|Installing collected packages:) ?([^\s,]*)/,
      })),
    ])
    writeFileSync(
      join(folder, COMPLETE_MARKER),
      `${files.map((file) => readFileSync(file, 'utf8')).join('\n')}`,
    )
  } finally {
    release()
  }
}

/** Makes the environments of the client matrix. */
async function ensureMatrix() {
  for (const name of ['clients-oldest', 'openai-oldest', 'openai-newest']) await ensurePython(name)
  await ensureIfPossible('clients-newest')
}

/** Builds the web UI when its sources have changed since it was built. */
export async function ensureWeb() {
  if (outdatedWeb(ROOT) === undefined) return
  const release = await lockFolder(join(ROOT, 'web/dist'))
  try {
    const hash = outdatedWeb(ROOT)
    if (hash === undefined) return
    const vite = [join(ROOT, 'node_modules/.bin/node'), join(ROOT, 'node_modules/vite/bin/vite.js'), 'build']
    const place = ['--config', 'web/vite.config.ts', '--outDir', 'dist-new']
    await runSteps('web UI', [{ command: [...vite, ...place], total: 0 }])
    finishWeb(ROOT, hash)
  } finally {
    release()
  }
}

/**
 * Installs a Chromium where the machine has none, for the tests of the pages. @throws Error that says how to get one.
 */
export async function ensureBrowser() {
  if (findChromium() !== undefined) return
  for (const { from, commands } of waysToChromium(ROOT)) {
    const shows = /^(?:Get:\S+|Unpacking|Downloading) (\S+)/
    const steps = commands.map((command) => ({ command, total: 0, shows }))
    // Where one way fails the next may do; if none does, the error below says what to do.
    await runSteps(`Chromium from ${from}`, steps).catch(() => undefined)
    const found = findChromium()
    if (found !== undefined && startsUp(found)) return
  }
  chromiumPath()
}

/** Whether an environment is finished. */
export function isReady(name) {
  return pythonOf(environmentFolder(name)) !== undefined
}

/** As {@link ensurePython}, for what tests do without where Python is too old. */
async function ensureIfPossible(name) {
  const { what, python } = environments()[name]
  if (lookForPython(python) !== undefined) return ensurePython(name)
  process.stderr.write(`${what}: left out, Python ${python.join('.')} was not found\n`)
}

/** An interpreter new enough. @throws Error that says what to install. */
export function findPython(pythonMin = PYTHON_MIN) {
  const found = lookForPython(pythonMin)
  if (found !== undefined) return found
  throw new Error(
    `Python ${pythonMin.join('.')} or newer with the venv module was not found. Install it (Debian: apt install python3 python3-venv) and run the same command again.`,
  )
}

function lookForPython([majorMin, minorMin]) {
  for (const name of [...PYTHON_NAMES, ...pyenvPythons()]) {
    const probe = spawnSync(name, ['-c', 'import sys, venv; print(*sys.version_info[:2])'], {
      encoding: 'utf8',
    })
    const [major, minor] = (probe.stdout ?? '').trim().split(' ').map(Number)
    if (probe.status === 0 && (major > majorMin || (major === majorMin && minor >= minorMin))) return name
  }
  return undefined
}

/** Interpreters that pyenv has installed and may not have on the path, newest first. */
function pyenvPythons() {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  if (!existsSync(versions)) return []
  return readdirSync(versions)
    .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }))
    .map((version) => join(versions, version, 'bin', 'python3'))
}

function requirementCount(requirements) {
  const file = requirements.at(-1)
  if (!existsSync(file)) return 0
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^[A-Za-z0-9]/.test(line)).length
}

async function runSteps(what, steps) {
  const progress = showProgress(what)
  try {
    for (const [index, step] of steps.entries()) {
      progress.step(index + 1, steps.length, step.total)
      await runStep(step, progress)
    }
    progress.done()
  } catch (error) {
    progress.failed()
    throw error
  }
}

/** Lines of output kept to explain a failure. */
const TAIL_LINES = 30

function runStep({ command: [program, ...args], counts, shows }, progress) {
  return new Promise((fulfil, reject) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    const tail = []
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (!/http (fetch|cache)/.test(line)) tail.push(line)
        if (tail.length > TAIL_LINES) tail.shift()
        if (counts?.test(line)) progress.advance()
        const shown = shows?.exec(line)?.[1]
        if (shown) progress.show(shown)
      })
    }
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) return fulfil()
      const reason = signal ? `was ended by ${signal}` : `ended with status ${code}`
      const hint = /ENOTFOUND|EAI_AGAIN|ETIMEDOUT|NewConnectionError|Temporary failure|ENETUNREACH/.test(
        tail.join('\n'),
      )
        ? '\nThe package registry could not be reached: check the network or the proxy settings, then run the same command again.'
        : ''
      reject(new Error(`${[program, ...args].join(' ')} ${reason}:\n  ${tail.join('\n  ')}${hint}`))
    })
  })
}

const PARTS = {
  packages: ensurePackages,
  engine: () => ensurePython('engine'),
  clients: () => ensurePython('clients'),
  reference: () => ensurePython('reference'),
  tools: () => ensurePython('tools'),
  generators: () => ensurePython('generators'),
  matrix: ensureMatrix,
  bench: () => ensurePython('bench'),
  peers: () => ensurePython('peers'),
  locks: () => ensurePython('locks'),
  web: ensureWeb,
  browser: ensureBrowser,
}

/** Brings the named parts, in the order given. */
export async function setUp(names) {
  for (const name of names) await PARTS[name]()
}

const HELP = `Usage: node scripts/setup.mjs [PART …]

Installs what a fresh clone lacks; without a PART, all of them:
  packages   npm packages, Node 24 among them
  engine     Python environment of the inference and training engine
  clients    Python environment with the clients that the demo and the tests run
  reference  Python environment with the implementation that the trace API is compared with
  tools      Python environment with the checkers
  generators Python environment with a generator of clients, for the tests
  matrix     Python environments with the oldest supported and the newest clients, for the tests
  bench      Python packages that the benchmarks add to the engine's
  peers      Python environment with other trace servers, for the benchmarks
  locks      Python environment that writes the hashes of Python packages
  web        the pages that the server shows to people
  browser    a Chromium for the tests of the pages, unless the machine has one

Python environments live in ${cacheFolder()} (HEDDLE_CACHE moves it).
`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2)
  const unknown = names.filter((name) => !Object.hasOwn(PARTS, name))
  if (unknown.length > 0) {
    process.stdout.write(HELP)
    process.exitCode = names.includes('--help') ? 0 : 2
  } else {
    await setUp(names.length > 0 ? names : Object.keys(PARTS)).catch((error) => {
      process.stderr.write(`\n${error.message}\n`)
      process.exitCode = 1
    })
  }
}
