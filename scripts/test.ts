/**
 * `npm test`: set-up, then every layer, each with the tool made for it, and one closing line that counts every test.
 *
 *   node scripts/run.mjs test [check | unit | cluster | replicas | ray | wire | differential | engine | ui]     (all layers when none is named)
 *   node scripts/run.mjs test fast     (the unit tests without those that wait or write much)
 *   node scripts/run.mjs test LAYER PART …     (of any layer but check: the files whose names have one of these parts)
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../src/errors.ts'
import { sitePackagesOf } from '../src/stores/compute/python-environment.ts'
import { type Part, setUp } from './parts.ts'
import { environmentFolder, pythonIn } from './python-environments.ts'
import { ROOT } from './repository.ts'

/** When the output of a layer is shown: as it comes, or when the layer has ended. */
type Show = 'now' | 'at the end'

interface Outcome {
  passed: number
  failed: number
  skipped: number
  /** Of what failed. */
  names: readonly string[]
}

interface Layer {
  needs: readonly Part[]
  /** @param files parts of the names of files to run; none for all that the layer runs by itself */
  run: (show: Show, files: readonly string[]) => Promise<Outcome>
}

type Command = readonly [program: string, ...args: string[]]

type NamedLayer = readonly [name: string, layer: Layer]

/** What a layer is that ended without a report. */
const NO_REPORT: Outcome = { passed: 0, failed: 1, skipped: 0, names: [] }

const BIN = join(ROOT, 'node_modules/.bin')
const reports = mkdtempSync(join(tmpdir(), 'heddle-reports-'))

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
    run: (show, args) => runVitest('differential', 'vitest.differential.config.ts', { show, args }),
  },
  unit: { needs: [], run: (show, args) => runVitest('unit', 'vitest.config.ts', { show, args }) },
  cluster: {
    needs: ['s3', 'postgres', 'charts', 'engine', 'tools'],
    run: (show, args) => runVitest('cluster', 'vitest.cluster.config.ts', { show, args }),
  },
  replicas: {
    needs: ['s3', 'postgres', 'clients', 'engine', 'ray'],
    run: (show, files) =>
      runVitest('replicas', 'vitest.replicas.config.ts', {
        show,
        args: files.length > 0 ? files : ON_REPLICAS,
      }),
  },
  ray: {
    needs: ['s3', 'postgres', 'engine', 'ray'],
    run: (show, args) => runVitest('ray', 'vitest.ray.config.ts', { show, args }),
  },
  wire: {
    needs: ['engine', 'clients', 'generators', 'fuzzer', 'matrix'],
    run: (show, args) => runVitest('wire', 'vitest.wire.config.ts', { show, args }),
  },
  engine: {
    needs: ['engine', 'tools'],
    run: (show, files) =>
      runPytest(
        ['-m', 'not gpu and not bucket', ...(files.length > 0 ? ['-k', files.join(' or ')] : [])],
        show,
      ),
  },
  ui: { needs: ['browser', 'clients', 'engine', 'web'], run: (_show, files) => runPlaywright(files) },
}

/**
 * One stage after the other. The layers of a stage keep one core of two busy each, so they run two at a time, the longest first;
 * Ray's tests wait more than others, so they run beside the unit tests. Those of the other stages keep both cores busy.
 */
const STAGES: readonly (readonly string[])[] = [
  ['unit', 'ray', 'engine', 'cluster', 'replicas', 'differential', 'check'],
  ['wire'],
  ['ui'],
]

const LANES = 2

/** Not one of the layers: the unit tests without those that wait or write much. */
const FAST: Layer = {
  needs: [],
  run: (show, files) =>
    runVitest('unit', 'vitest.config.ts', { show, args: ['--exclude', '**/*.slow.test.ts', ...files] }),
}

async function main(): Promise<void> {
  const [name, ...files] = process.argv.slice(2)
  const stages = stagesOf(name)
  if (stages === undefined || (name === 'check' && files.length > 0)) {
    process.stdout.write(
      `Usage: npm test, or npm run test:fast | test:cluster | test:replicas | test:ray | test:wire | test:differential | test:engine | test:ui | check\n`,
    )
    process.exitCode = name === '--help' ? 0 : 2
    return
  }
  const layers = stages.flat()
  await setUp([...new Set(layers.flatMap(([, { needs }]) => needs))])
  const total = { passed: 0, failed: 0, skipped: 0 }
  const failures: string[] = []
  for (const stage of stages) {
    for (const { passed, failed, skipped, names } of await runStage(stage, files)) {
      total.passed += passed
      total.failed += failed
      total.skipped += skipped
      failures.push(...names)
    }
  }
  rmSync(reports, { recursive: true, force: true })
  for (const failure of failures) process.stdout.write(`\n✗ ${failure}`)
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
  process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`)
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
}

/** The layers to run with their names, as in {@link STAGES}; undefined for an unknown name. */
function stagesOf(name: string | undefined): NamedLayer[][] | undefined {
  if (name === undefined) return STAGES.map((names) => names.flatMap(layerOf))
  const layer = name === 'fast' ? [['fast', FAST] as const] : layerOf(name)
  return layer.length > 0 ? [layer] : undefined
}

/** A list of one; of none for an unknown name. */
function layerOf(name: string): NamedLayer[] {
  const layer = Object.hasOwn(LAYERS, name) ? LAYERS[name] : undefined
  return layer === undefined ? [] : [[name, layer]]
}

/** The counts of all layers of a stage. The first lane shows what it does, the other when a layer of its has ended. */
async function runStage(layers: readonly NamedLayer[], files: readonly string[]): Promise<Outcome[]> {
  const waiting = [...layers]
  const lanes = Array.from({ length: LANES }, (_, index) =>
    runLane(waiting, { show: index === 0 ? 'now' : 'at the end', files }),
  )
  return (await Promise.all(lanes)).flat()
}

/** Runs one layer after the other of those that no lane has begun. */
async function runLane(
  waiting: NamedLayer[],
  { show, files }: { show: Show; files: readonly string[] },
): Promise<Outcome[]> {
  const all: Outcome[] = []
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [layer, { run: runLayer }] = next
    if (show === 'now') process.stdout.write(`\n── ${layer}\n`)
    const started = Date.now()
    all.push(await runLayer(show, files))
    process.stdout.write(`\n── ${layer} took ${Math.round((Date.now() - started) / 1000)} s\n`)
  }
  return all
}

async function runChecks(): Promise<Outcome> {
  const failures: string[] = []
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
    const ok = (await run(command, { env })) === 0
    process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n`)
    if (!ok) failures.push(name)
  }
  return { passed: checks.length - failures.length, failed: failures.length, skipped: 0, names: failures }
}

async function runVitest(
  layer: string,
  config: string,
  { show, args = [] }: { show: Show; args?: readonly string[] },
): Promise<Outcome> {
  const file = join(reports, `${layer}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const status = await run(['vitest', 'run', '--config', config, ...reporters, ...args], { show })
  const report = readReport(file, VitestReport)
  if (report === undefined) return NO_REPORT
  const names = report.testResults.flatMap(failuresOf)
  return {
    passed: report.numPassedTests,
    failed: names.length === 0 && status !== 0 ? 1 : names.length,
    skipped: report.numPendingTests + report.numTodoTests,
    names,
  }
}

/** What is read of Vitest's report. */
const VitestFile = z.object({
  name: z.string(),
  status: z.string(),
  assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
})
const VitestReport = z.object({
  numPassedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(VitestFile),
})

/** The failed tests of a file; of one that could not even be collected, itself. */
function failuresOf({ name, status, assertionResults }: z.output<typeof VitestFile>): string[] {
  const file = relative(ROOT, name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  if (failed.length === 0 && status === 'failed') return [file]
  return failed.map((test) => `${file} › ${test.fullName}`)
}

/** Undefined where a program ended before it wrote its report. */
function readReport<Report>(file: string, schema: z.ZodType<Report>): Report | undefined {
  let report: unknown
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
  return schema.parse(report)
}

/** In a real browser; its report has the counts. */
async function runPlaywright(files: readonly string[]): Promise<Outcome> {
  const file = join(reports, 'ui.json')
  const status = await run(['playwright', 'test', '--config', 'tests/ui/playwright.config.ts', ...files], {
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: file },
  })
  const report = readReport(file, PlaywrightReport)
  if (report === undefined) return NO_REPORT
  const { stats } = report
  const failed = stats.unexpected + stats.flaky
  return {
    passed: stats.expected,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: stats.skipped,
    names: report.suites.flatMap(failedSpecsOf),
  }
}

/** What is read of Playwright's report; suites are files, and groups in them. */
interface PlaywrightSuite {
  suites?: PlaywrightSuite[] | undefined
  specs?: { ok: boolean; file: string; title: string }[] | undefined
}
const PlaywrightSuite: z.ZodType<PlaywrightSuite> = z.object({
  suites: z.lazy(() => z.array(PlaywrightSuite)).optional(),
  specs: z.array(z.object({ ok: z.boolean(), file: z.string(), title: z.string() })).optional(),
})
const PlaywrightReport = z.object({
  stats: z.object({ expected: z.number(), unexpected: z.number(), flaky: z.number(), skipped: z.number() }),
  suites: z.array(PlaywrightSuite),
})

function failedSpecsOf({ suites = [], specs = [] }: PlaywrightSuite): string[] {
  const failed = specs.filter((spec) => !spec.ok).map((spec) => `${spec.file} › ${spec.title}`)
  return [...failed, ...suites.flatMap(failedSpecsOf)]
}

/** Runs on the engine's interpreter, with the checkers' packages beside it. */
async function runPytest(args: readonly string[], show: Show): Promise<Outcome> {
  const file = join(reports, 'engine.xml')
  const tools = environmentFolder('tools')
  const env = { PYTHONPATH: [join(ROOT, 'engine/src'), sitePackagesOf(tools)].join(delimiter) }
  const status = await run([pythonIn('engine'), '-m', 'pytest', 'engine', `--junitxml=${file}`, ...args], {
    show,
    env,
  })
  const report = readText(file)
  const count = (name: string): number =>
    Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(report)?.[1] ?? 0)
  const tests = count('tests')
  if (tests === 0) return NO_REPORT
  const failed = count('failures') + count('errors')
  const skipped = count('skipped')
  const broken = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*>\s*<(?:failure|error)/g
  return {
    passed: tests - failed - skipped,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped,
    names: [...report.matchAll(broken)].map(([, module, name]) => `${module} › ${name}`),
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The exit status of a program; what it writes is shown `now` or `at the end`. */
async function run(
  [program, ...args]: Command,
  { show = 'now', env = {} }: { show?: Show; env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  const path = [BIN, process.env.PATH].join(delimiter)
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
