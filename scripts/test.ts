/**
 * `npm test`: set-up, then every layer, each with the tool made for it, and one closing line that counts every test.
 *
 *   node scripts/run.mjs test [check | unit | cluster | replicas | ray | wire | differential | engine | vllm | ui]
 *                                      (all layers when none is named)
 *   node scripts/run.mjs test fast     (the unit tests without those that wait or write much)
 *   node scripts/run.mjs test LAYER PART …     (of any layer but check: the files whose names have one of these parts)
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { messageOf } from '../src/errors.ts'
import { sitePackagesOf } from '../src/stores/compute/python-environment.ts'
import { type Part, setUp } from './parts.ts'
import { environmentFolder, pythonIn } from './python-environments.ts'
import { ROOT } from './repository.ts'
import { type Failure, type Outcome, readPlaywright, readPytest, readVitest } from './test-reports.ts'

/** When the output of a layer is shown: as it comes, or when the layer has ended. */
type Show = 'now' | 'at the end'

/** How the programs of a layer run. */
interface Way {
  show: Show
  /** Whether they take only the processor time that all others leave. */
  spare: boolean
  /** A folder for what they write of their tests. */
  reports: string
}

/** What is run of each layer, and where its programs write of it. */
interface Wanted {
  /** Parts of the names of files; none for all. */
  files: readonly string[]
  reports: string
}

interface Layer {
  needs: readonly Part[]
  /** @param files parts of the names of files to run; none for all that the layer runs by itself */
  run: (way: Way, files: readonly string[]) => Promise<Outcome>
}

type Command = readonly [program: string, ...args: string[]]

type NamedLayer = readonly [name: string, layer: Layer]

const BIN = join(ROOT, 'node_modules/.bin')

const PYTHON_FOLDERS = ['engine', 'demo', 'bench', 'tests']

/** Checks count as one test each. */
const TYPESCRIPT_CHECKS: Record<string, Command> = {
  biome: ['biome', 'ci', '.'],
  tsc: ['tsc', '-p', '.'],
  'tsc web': ['tsc', '-p', 'web'],
  'import rules': ['depcruise', 'src', 'web', '--config', '.dependency-cruiser.mjs'],
  knip: ['knip'],
  'generated files': ['node', 'scripts/gen.ts', '--check'],
}

/** Of the wire tests on three servers those that take little time; `npm run test:replicas wire` runs all. */
const ON_REPLICAS = ['weave', 'wandb', 'with-engine', 'identity-tokens'].map(
  (name) => `tests/wire/${name}.test.ts`,
)

const LAYERS: Readonly<Record<string, Layer>> = {
  check: { needs: ['engine', 'clients', 'reference', 'tools'], run: runChecks },
  differential: {
    needs: ['reference'],
    run: (way, args) => runVitest('differential', 'vitest.differential.config.ts', { way, args }),
  },
  unit: { needs: [], run: (way, args) => runVitest('unit', 'vitest.config.ts', { way, args }) },
  cluster: {
    needs: ['s3', 'postgres', 'redis', 'charts', 'engine', 'tools'],
    run: (way, args) => runVitest('cluster', 'vitest.cluster.config.ts', { way, args }),
  },
  replicas: {
    needs: ['s3', 'postgres', 'redis', 'clients', 'engine', 'ray'],
    run: (way, files) =>
      runVitest('replicas', 'vitest.replicas.config.ts', {
        way,
        args: files.length > 0 ? files : ON_REPLICAS,
      }),
  },
  ray: {
    needs: ['s3', 'postgres', 'redis', 'engine', 'ray'],
    run: (way, args) => runVitest('ray', 'vitest.ray.config.ts', { way, args }),
  },
  wire: {
    needs: ['engine', 'clients', 'generators', 'fuzzer', 'matrix'],
    run: (way, args) => runVitest('wire', 'vitest.wire.config.ts', { way, args }),
  },
  engine: {
    needs: ['engine', 'tools'],
    run: (way, files) => runPytest('engine', 'not slow and not gpu and not bucket', { way, files }),
  },
  vllm: { needs: ['engine', 'tools'], run: (way, files) => runPytest('vllm', 'slow', { way, files }) },
  ui: { needs: ['browser', 'clients', 'engine', 'web'], run: (way, files) => runPlaywright({ way, files }) },
}

/**
 * One stage after the other. The layers of a stage keep one core of two busy each, so they run two at a time, the
 * longest first; Ray's tests wait more than others, so they run beside the unit tests. Those of the other stages keep
 * both cores busy.
 */
const STAGES: readonly (readonly string[])[] = [
  ['unit', 'ray', 'cluster', 'vllm', 'replicas'],
  ['wire'],
  ['ui'],
]

/**
 * Beside all stages, one after the other: those whose tests tolerate a slow process best. The others leave a sixth
 * of two cores idle, since they wait for starts, disks and timers.
 */
const SPARE: readonly string[] = ['engine', 'differential', 'check']

const LANES = 2

/** A program that ends may still write while its folder is removed. */
const REMOVAL_RETRIES = 5

/** Of each failure in the closing lines. The whole output may be long, and its start may be lost where it is kept. */
const REASON_CHARS_MAX = 1000

/**
 * Of a program and all that it starts. They get a tenth of the processor time of other programs: with less, time limits
 * of their own would expire.
 */
const LOW_PRIORITY: Command = ['nice', '-n', '10']

/** Not one of the layers: the unit tests without those that wait or write much. */
const FAST: Layer = {
  needs: [],
  run: (way, files) =>
    runVitest('unit', 'vitest.config.ts', { way, args: ['--exclude', '**/*.slow.test.ts', ...files] }),
}

async function main(): Promise<void> {
  const [name, ...files] = process.argv.slice(2)
  const plan = planOf(name)
  if (plan === undefined || (name === 'check' && files.length > 0)) {
    process.stdout.write(
      `Usage: npm test, or npm run test:fast | test:cluster | test:replicas | test:ray | test:wire | test:differential | test:engine | test:vllm | test:ui | check\n`,
    )
    process.exitCode = name === '--help' ? 0 : 2
    return
  }
  const layers = [...plan.stages.flat(), ...plan.spare]
  await setUp([...new Set(layers.flatMap(([, { needs }]) => needs))])
  // A short name: paths of sockets have at most 107 bytes, of which Ray's take 80 below this folder.
  const folder = mkdtempSync(join(tmpdir(), 'heddle-'))
  // Where the tests run as root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  const reports = join(folder, 'reports')
  mkdirSync(reports)
  // Of the tests and all that they start, killed programs and libraries included, which remove nothing.
  process.env.TMPDIR = folder
  try {
    report(await runPlan(plan, { files, reports }))
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: REMOVAL_RETRIES })
  }
}

/** Prints what failed and the closing line, and sets the exit code. */
function report(outcomes: readonly Outcome[]): void {
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const { passed, failed, skipped } of outcomes) {
    total.passed += passed
    total.failed += failed
    total.skipped += skipped
  }
  for (const failure of outcomes.flatMap(({ failures }) => failures))
    process.stdout.write(`\n✗ ${shown(failure)}`)
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
  process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`)
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
}

/** Its name, and the reason in lines below. */
function shown({ name, reason }: Failure): string {
  const text = stripVTControlCharacters(reason).slice(0, REASON_CHARS_MAX).trimEnd()
  return text === '' ? name : `${name}\n${text}`.replaceAll('\n', '\n    ')
}

/** The layers to run: see {@link STAGES} and {@link SPARE}. */
interface Plan {
  stages: readonly (readonly NamedLayer[])[]
  spare: readonly NamedLayer[]
}

/** All layers where none is named; undefined for an unknown name. */
function planOf(name: string | undefined): Plan | undefined {
  if (name === undefined)
    return { stages: STAGES.map((names) => names.flatMap(layerOf)), spare: SPARE.flatMap(layerOf) }
  const layer = name === 'fast' ? [['fast', FAST] as const] : layerOf(name)
  return layer.length > 0 ? { stages: [layer], spare: [] } : undefined
}

/** A list of one; of none for an unknown name. */
function layerOf(name: string): NamedLayer[] {
  const layer = Object.hasOwn(LAYERS, name) ? LAYERS[name] : undefined
  return layer === undefined ? [] : [[name, layer]]
}

async function runPlan({ stages, spare }: Plan, { files, reports }: Wanted): Promise<Outcome[]> {
  const outcomes = await Promise.all([
    runStages(stages, { files, reports }),
    runLane([...spare], { way: { show: 'at the end', spare: true, reports }, files }),
  ])
  return outcomes.flat()
}

async function runStages(stages: Plan['stages'], wanted: Wanted): Promise<Outcome[]> {
  const all: Outcome[] = []
  for (const stage of stages) all.push(...(await runStage(stage, wanted)))
  return all
}

/** The counts of all layers of a stage. The first lane shows what it does, the other when a layer of its has ended. */
async function runStage(layers: readonly NamedLayer[], { files, reports }: Wanted): Promise<Outcome[]> {
  const waiting = [...layers]
  const lanes = Array.from({ length: LANES }, (_, index) =>
    runLane(waiting, { way: { show: index === 0 ? 'now' : 'at the end', spare: false, reports }, files }),
  )
  return (await Promise.all(lanes)).flat()
}

/** Runs one layer after the other of those that no lane has begun. */
async function runLane(
  waiting: NamedLayer[],
  { way, files }: { way: Way; files: readonly string[] },
): Promise<Outcome[]> {
  const all: Outcome[] = []
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [layer, { run: runLayer }] = next
    if (way.show === 'now') process.stdout.write(`\n── ${layer}\n`)
    const started = Date.now()
    all.push(await runLayer(way, files))
    process.stdout.write(`\n── ${layer} took ${Math.round((Date.now() - started) / 1000)} s\n`)
  }
  return all
}

async function runChecks(way: Way): Promise<Outcome> {
  const failures: Failure[] = []
  const tools = join(environmentFolder('tools'), 'bin')
  const checks = Object.entries<Command>({
    ...TYPESCRIPT_CHECKS,
    ruff: [join(tools, 'ruff'), 'check', ...PYTHON_FOLDERS],
    'ruff format': [join(tools, 'ruff'), 'format', '--check', ...PYTHON_FOLDERS],
    'pyright engine': ['pyright', '-p', 'engine', '--pythonpath', pythonIn('engine')],
    'pyright demo': ['pyright', '-p', 'demo', '--pythonpath', pythonIn('clients')],
    'pyright reference': ['pyright', '-p', 'tests/differential', '--pythonpath', pythonIn('reference')],
    'pyright bench': ['pyright', '-p', 'bench', '--pythonpath', pythonIn('clients')],
  })
  // pyright asks the interpreter where to look, which finds pytest beside the engine's packages this way.
  const env = { PYTHONPATH: sitePackagesOf(environmentFolder('tools')) }
  for (const [name, command] of checks) {
    const ok = (await run(command, { ...way, env })) === 0
    process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n`)
    if (!ok) failures.push({ name, reason: '' })
  }
  return { passed: checks.length - failures.length, failed: failures.length, skipped: 0, failures }
}

async function runVitest(
  layer: string,
  config: string,
  { way, args = [] }: { way: Way; args?: readonly string[] },
): Promise<Outcome> {
  const file = join(way.reports, `${layer}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const status = await run(['vitest', 'run', '--config', config, ...reporters, ...args], way)
  return readVitest(file, status)
}

/** In a real browser; its report has the counts. */
async function runPlaywright({ way, files }: { way: Way; files: readonly string[] }): Promise<Outcome> {
  const file = join(way.reports, 'ui.json')
  const status = await run(['playwright', 'test', '--config', 'tests/ui/playwright.config.ts', ...files], {
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: file },
  })
  return readPlaywright(file, status)
}

/** Runs on the engine's interpreter, with the checkers' packages beside it. */
async function runPytest(
  layer: string,
  marked: string,
  { way, files }: { way: Way; files: readonly string[] },
): Promise<Outcome> {
  const file = join(way.reports, `${layer}.xml`)
  const tools = environmentFolder('tools')
  const env = { PYTHONPATH: [join(ROOT, 'engine/src'), sitePackagesOf(tools)].join(delimiter) }
  const named = files.length > 0 ? ['-k', files.join(' or ')] : []
  const args = ['engine', `--junitxml=${file}`, '-m', marked, ...named]
  const status = await run([pythonIn('engine'), '-m', 'pytest', ...args], { ...way, env })
  return readPytest(file, status)
}

/** The exit status of a program; what it writes is shown `now` or `at the end`. */
async function run(
  command: Command,
  { show = 'now', spare = false, env = {} }: Partial<Way> & { env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  const path = [BIN, process.env.PATH].join(delimiter)
  const [program, ...args] = spare ? [...LOW_PRIORITY, ...command] : command
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: show === 'now' ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    // Where the variable is set, each start of a Python program compiles all that it imports.
    env: { ...process.env, PATH: path, PYTHONDONTWRITEBYTECODE: '', ...env },
  })
  const held: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => held.push(chunk))
  const code = await new Promise<number | null>((fulfil, reject) => {
    child.once('error', reject)
    child.once('close', fulfil)
  })
  process.stdout.write(Buffer.concat(held))
  return code ?? 1
}

await main().catch((error: unknown) => {
  process.stderr.write(`\n${messageOf(error)}\n`)
  process.exitCode = 1
})
