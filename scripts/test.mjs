/**
 * `npm test`: set-up, then every layer, each with the tool made for it, and one closing line that counts every test.
 *
 *   node scripts/test.mjs [check | unit | wire | differential | engine | ui]     (all layers when none is named)
 *   node scripts/test.mjs fast     (the unit tests without those that wait or write much)
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { pythonOf, sitePackagesOf } from './python-env.mjs'
import { environmentFolder, ROOT, setUp } from './setup.mjs'

const BIN = join(ROOT, 'node_modules/.bin')
const reports = mkdtempSync(join(tmpdir(), 'heddle-reports-'))

const PYTHON_FOLDERS = ['engine', 'demo', 'bench', 'tests']

/** Checks count as one test each. */
const TYPESCRIPT_CHECKS = {
  biome: ['biome', 'ci', '.'],
  tsc: ['tsc', '-p', '.'],
  'tsc web': ['tsc', '-p', 'web'],
  'import rules': ['depcruise', 'src', 'web', '--config', '.dependency-cruiser.mjs'],
  knip: ['knip'],
  'generated files': ['node', 'scripts/gen.ts', '--check'],
}

const LAYERS = {
  check: { needs: ['packages', 'engine', 'clients', 'reference', 'tools'], run: runChecks },
  differential: {
    needs: ['packages', 'reference'],
    run: (show) => runVitest('differential', 'vitest.differential.config.ts', { show }),
  },
  unit: { needs: ['packages'], run: (show) => runVitest('unit', 'vitest.config.ts', { show }) },
  wire: {
    needs: ['packages', 'engine', 'clients', 'generators', 'matrix'],
    run: (show) => runVitest('wire', 'vitest.wire.config.ts', { show }),
  },
  engine: { needs: ['packages', 'engine', 'tools'], run: (show) => runPytest(['-m', 'not gpu'], show) },
  ui: { needs: ['packages', 'browser', 'clients', 'engine', 'web'], run: runPlaywright },
}

/** One stage after the other; the lanes of a stage run side by side, where each of them keeps one core of two busy. */
const STAGES = [[['check', 'differential'], ['engine']], [['unit']], [['wire']], [['ui']]]

/** Not one of the layers: the unit tests without those that wait or write much. */
const FAST = {
  needs: ['packages'],
  run: (show) => runVitest('unit', 'vitest.config.ts', { show, args: ['--exclude', '**/*.slow.test.ts'] }),
}

async function main() {
  const [name] = process.argv.slice(2)
  const stages = stagesOf(name)
  if (stages === undefined) {
    process.stdout.write(
      `Usage: npm test, or npm run test:fast | test:wire | test:differential | test:engine | test:ui | check\n`,
    )
    process.exitCode = name === '--help' ? 0 : 2
    return
  }
  await setUp(unique(stages.flat(2).flatMap(([, { needs }]) => needs)))
  const total = { passed: 0, failed: 0, skipped: 0 }
  const failures = []
  for (const stage of stages) {
    for (const { names = [], ...counts } of await runStage(stage)) {
      for (const key of Object.keys(total)) total[key] += counts[key] ?? 0
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
function stagesOf(name) {
  if (name === undefined)
    return STAGES.map((lanes) => lanes.map((lane) => lane.map((layer) => [layer, LAYERS[layer]])))
  if (name === 'fast') return [[[['fast', FAST]]]]
  return Object.hasOwn(LAYERS, name) ? [[[[name, LAYERS[name]]]]] : undefined
}

/** The counts of all layers of a stage. The first lane shows what it does, the others when a layer of theirs has ended. */
async function runStage(lanes) {
  return (
    await Promise.all(lanes.map((lane, index) => runLane(lane, index === 0 ? 'now' : 'at the end')))
  ).flat()
}

async function runLane(layers, show) {
  const all = []
  for (const [layer, { run: runLayer }] of layers) {
    if (show === 'now') process.stdout.write(`\n── ${layer}\n`)
    const started = Date.now()
    all.push(await runLayer(show))
    process.stdout.write(`\n── ${layer} took ${Math.round((Date.now() - started) / 1000)} s\n`)
  }
  return all
}

async function runChecks() {
  const counts = { passed: 0, failed: 0, names: [] }
  const tools = join(environmentFolder('tools'), 'bin')
  const checks = Object.entries({
    ...TYPESCRIPT_CHECKS,
    ruff: [join(tools, 'ruff'), 'check', ...PYTHON_FOLDERS],
    'ruff format': [join(tools, 'ruff'), 'format', '--check', ...PYTHON_FOLDERS],
    'pyright engine': ['pyright', '-p', 'engine', '--pythonpath', pythonOf(environmentFolder('engine'))],
    'pyright demo': ['pyright', '-p', 'demo', '--pythonpath', pythonOf(environmentFolder('clients'))],
    'pyright reference': [
      'pyright',
      '-p',
      'tests/differential',
      '--pythonpath',
      pythonOf(environmentFolder('reference')),
    ],
    'pyright bench': ['pyright', '-p', 'bench', '--pythonpath', pythonOf(environmentFolder('clients'))],
  })
  // pyright asks the interpreter where to look, which finds pytest beside the engine's packages this way.
  const env = { PYTHONPATH: sitePackagesOf(environmentFolder('tools')) }
  for (const [name, command] of checks) {
    const ok = (await run(command, { env })) === 0
    process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n`)
    counts[ok ? 'passed' : 'failed']++
    if (!ok) counts.names.push(name)
  }
  return counts
}

async function runVitest(layer, config, { show, args = [] }) {
  const file = join(reports, `${layer}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const status = await run(['vitest', 'run', '--config', config, ...reporters, ...args], { show })
  const report = readReport(file)
  if (report === undefined) return { failed: 1 }
  const names = report.testResults.flatMap(failuresOf)
  return {
    passed: report.numPassedTests,
    failed: names.length === 0 && status !== 0 ? 1 : names.length,
    skipped: report.numPendingTests + report.numTodoTests,
    names,
  }
}

/** The failed tests of a file; of one that could not even be collected, itself. */
function failuresOf({ name, status, assertionResults }) {
  const file = relative(ROOT, name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  if (failed.length === 0 && status === 'failed') return [file]
  return failed.map((test) => `${file} › ${test.fullName}`)
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** In a real browser; its report has the counts. */
async function runPlaywright() {
  const file = join(reports, 'ui.json')
  const status = await run(['playwright', 'test', '--config', 'tests/ui/playwright.config.ts'], {
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: file },
  })
  const report = readReport(file)
  if (report === undefined) return { failed: 1 }
  const { stats } = report
  const failed = stats.unexpected + stats.flaky
  return {
    passed: stats.expected,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: stats.skipped,
    names: report.suites.flatMap(failedSpecsOf),
  }
}

function failedSpecsOf({ suites = [], specs = [] }) {
  const failed = specs.filter((spec) => !spec.ok).map((spec) => `${spec.file} › ${spec.title}`)
  return [...failed, ...suites.flatMap(failedSpecsOf)]
}

/** Runs on the engine's interpreter, with the checkers' packages beside it. */
async function runPytest(args, show) {
  const file = join(reports, 'engine.xml')
  const python = pythonOf(environmentFolder('engine'))
  const tools = environmentFolder('tools')
  const env = { PYTHONPATH: [join(ROOT, 'engine/src'), sitePackagesOf(tools)].join(delimiter) }
  const status = await run([python, '-m', 'pytest', 'engine', `--junitxml=${file}`, ...args], { show, env })
  const report = readText(file)
  const count = (name) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(report)?.[1] ?? 0)
  const tests = count('tests')
  if (tests === 0) return { failed: 1 }
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

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The exit status of a program; what it writes is shown `now` or `at the end`. */
async function run([program, ...args], { show = 'now', env = {} } = {}) {
  const path = [BIN, process.env.PATH].join(delimiter)
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: show === 'now' ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path, ...env },
  })
  const held = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => held.push(chunk))
  const code = await new Promise((fulfil, reject) => {
    child.once('error', reject)
    child.once('close', fulfil)
  })
  process.stdout.write(Buffer.concat(held))
  return code ?? 1
}

function unique(names) {
  return [...new Set(names)]
}

await main().catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
})
