/**
 * `npm test`: set-up, then every layer, each with the tool made for it, and one closing line that counts every test.
 *
 *   node scripts/test.mjs [check | unit | wire | differential | engine | ui]     (all layers when none is named)
 *   node scripts/test.mjs fast     (the unit tests without those that wait or write much)
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
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
  unit: { needs: ['packages'], run: () => runVitest('unit', 'vitest.config.ts') },
  wire: { needs: ['packages', 'engine', 'clients'], run: () => runVitest('wire', 'vitest.wire.config.ts') },
  differential: {
    needs: ['packages', 'reference'],
    run: () => runVitest('differential', 'vitest.differential.config.ts'),
  },
  engine: { needs: ['packages', 'engine', 'tools'], run: () => runPytest(['-m', 'not gpu']) },
  ui: { needs: ['packages', 'browser', 'clients', 'engine', 'web'], run: runPlaywright },
}

/** Not one of the layers: the unit tests without those that wait or write much. */
const FAST = {
  needs: ['packages'],
  run: () => runVitest('unit', 'vitest.config.ts', ['--exclude', '**/*.slow.test.ts']),
}

async function main() {
  const [name] = process.argv.slice(2)
  const chosen = layersOf(name)
  if (chosen === undefined) {
    process.stdout.write(
      `Usage: npm test, or npm run test:fast | test:wire | test:differential | test:engine | test:ui | check\n`,
    )
    process.exitCode = name === '--help' ? 0 : 2
    return
  }
  await setUp(unique(chosen.flatMap(([, { needs }]) => needs)))
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const [layer, { run: runLayer }] of chosen) {
    process.stdout.write(`\n── ${layer}\n`)
    const counts = await runLayer()
    for (const key of Object.keys(total)) total[key] += counts[key] ?? 0
  }
  rmSync(reports, { recursive: true, force: true })
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
  process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`)
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
}

/** What runs, in order, by name; undefined for a name that is none. */
function layersOf(name) {
  if (name === undefined) return Object.entries(LAYERS)
  if (name === 'fast') return [['fast', FAST]]
  return Object.hasOwn(LAYERS, name) ? [[name, LAYERS[name]]] : undefined
}

async function runChecks() {
  const counts = { passed: 0, failed: 0 }
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
    const ok = (await run(command, env)) === 0
    process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n`)
    counts[ok ? 'passed' : 'failed']++
  }
  return counts
}

async function runVitest(layer, config, args = []) {
  const file = join(reports, `${layer}.json`)
  const status = await run([
    'vitest',
    'run',
    '--config',
    config,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...args,
  ])
  const report = readReport(file)
  if (report === undefined) return { failed: 1 }
  const failed = report.numFailedTests + report.testResults.filter(brokenFile).length
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/** A file that could not even be collected has no failed test of its own. */
function brokenFile(result) {
  return result.status === 'failed' && result.assertionResults.every((test) => test.status !== 'failed')
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
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
  })
  const stats = readReport(file)?.stats
  if (stats === undefined) return { failed: 1 }
  const failed = stats.unexpected + stats.flaky
  return {
    passed: stats.expected,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: stats.skipped,
  }
}

/** Runs on the engine's interpreter, with the checkers' packages beside it. */
async function runPytest(args) {
  const file = join(reports, 'engine.xml')
  const python = pythonOf(environmentFolder('engine'))
  const tools = environmentFolder('tools')
  const status = await run([python, '-m', 'pytest', 'engine', `--junitxml=${file}`, ...args], {
    PYTHONPATH: [join(ROOT, 'engine/src'), sitePackagesOf(tools)].join(delimiter),
  })
  const counts = /tests="(\d+)"/.exec(readText(file))
  const count = (name) =>
    Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(readText(file))?.[1] ?? 0)
  if (counts === null) return { failed: 1 }
  const failed = count('failures') + count('errors')
  const skipped = count('skipped')
  return {
    passed: count('tests') - failed - skipped,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped,
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function run([program, ...args], env = {}) {
  const path = [BIN, process.env.PATH].join(delimiter)
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PATH: path, ...env },
  })
  return new Promise((fulfil, reject) => {
    child.once('error', reject)
    child.once('close', (code) => fulfil(code ?? 1))
  })
}

function unique(names) {
  return [...new Set(names)]
}

await main().catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
})
