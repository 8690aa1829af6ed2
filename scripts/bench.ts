/**
 * `npm run bench -- NAME`: sets everything up, starts a Heddle of its own on a free port with an empty data folder,
 * runs one of the benchmarks in `bench/` against it, and stops it again. A benchmark that compares servers starts all
 * of them itself. `npm run bench -- --help` lists them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { messageOf } from '../src/errors.ts'
import { STOP_SIGNALS } from '../src/stop-signals.ts'
import { sitePackagesOf } from '../src/stores/compute/python-environment.ts'
import { NOT_UNDERSTOOD } from './arguments.ts'
import { BENCHES, type Bench } from './benches.ts'
import { engineOf, engineReady, freePort, type OwnServer, runClient, startServer } from './own-server.ts'
import { setUp } from './parts.ts'
import { environmentFolder, pythonIn } from './python-environments.ts'
import { NODE, ROOT } from './repository.ts'

interface Run {
  data: string
  server: OwnServer
  /** The address that the server's inspector listens at when asked to. */
  inspector: string
  baseModel: string | undefined
}

const ENV = {
  PYTHONPATH: [join(ROOT, 'demo'), process.env.PYTHONPATH].filter(Boolean).join(delimiter),
  // The clients must not fetch price lists from the internet, nor draw over the report.
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  TQDM_DISABLE: '1',
  // With a key in the environment openpipe-art would open a W&B run as well; it is given its key as an argument.
  WANDB_API_KEY: undefined,
}

/** Those that are run against a server of their own: the arguments that each gets besides those of the command line. */
const WITH_SERVER: Readonly<Record<string, (run: Run) => string[]>> = {
  train: trainOptions,
  learn: learnOptions,
  chat: chatOptions,
  streams: engineOptions,
}

async function main(): Promise<void> {
  const cli = new Command('npm run bench --')
    .usage('NAME [options]')
    .helpCommand(false)
    .showHelpAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      '\n`NAME --help` lists the options of one. Servers are started for the benchmark alone and their data is removed afterwards.',
    )
  for (const [name, bench] of Object.entries(BENCHES)) {
    const command = cli.command(name).description(bench.about)
    for (const [flags, text] of Object.entries(bench.options)) command.option(flags, text)
    command.option('--json <file>', 'also writes all numbers there')
    command.action(() => run(name, bench, process.argv.slice(3)))
  }
  try {
    await cli.parseAsync()
  } catch (error) {
    // Commander has written its own text.
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? 0 : NOT_UNDERSTOOD
  }
}

async function run(name: string, bench: Bench, passed: readonly string[]): Promise<void> {
  await setUp(['server', ...bench.needs])
  const optionsOf = WITH_SERVER[name]
  process.exitCode =
    optionsOf === undefined
      ? await runAlone(bench.program, [...(bench.fixed ?? []), ...passed])
      : await runWithServer(bench.program, optionsOf, passed)
}

/** Runs a benchmark against a server with an empty data folder; resolves with its status. */
async function runWithServer(
  program: string,
  optionsOf: (run: Run) => string[],
  passed: readonly string[],
): Promise<number> {
  const data = mkdtempSync(join(tmpdir(), 'heddle-bench-'))
  const inspector = `127.0.0.1:${await freePort()}`
  const { baseModel, rest } = templateOf(passed, data)
  const server = startServer({
    port: await freePort(),
    data,
    env: {
      NODE_OPTIONS: `--inspect-port=${inspector}`,
      ...(baseModel !== undefined && { HEDDLE_BASE_MODEL: baseModel }),
    },
  })
  try {
    await engineReady(server)
    const options = optionsOf({ data, server, inspector, baseModel })
    return await runClient(server, [`bench/${program}`, ...options, ...rest], ENV)
  } finally {
    server.stop()
    await server.closed
    rmSync(data, { recursive: true, force: true })
  }
}

/** Runs a benchmark that starts its own servers; resolves with its status. */
async function runAlone(program: string, args: readonly string[]): Promise<number> {
  const path = join(ROOT, 'bench', program)
  const child = program.endsWith('.py')
    ? spawn(enginePython(), [path, ...args], {
        stdio: 'inherit',
        env: { ...process.env, ...beside('engine/src', 'engine/tests', 'demo') },
      })
    : spawn(NODE, [path, ...args], { stdio: 'inherit' })
  for (const signal of STOP_SIGNALS) process.on(signal, () => child.kill(signal))
  const [code] = await once(child, 'close')
  return code ?? 1
}

function enginePython(): string {
  const python = process.env.HEDDLE_ENGINE_PYTHON
  if (!python) {
    throw new Error(
      'HEDDLE_ENGINE_PYTHON must name a Python with the packages of engine/requirements-gpu.txt',
    )
  }
  return python
}

/** The environment of a Python that finds these folders, and the packages of the benchmarks after its own. */
function beside(...folders: string[]): NodeJS.ProcessEnv {
  const paths = [...folders.map((folder) => join(ROOT, folder)), sitePackagesOf(environmentFolder('bench'))]
  return { PYTHONPATH: paths.join(delimiter), HF_HUB_OFFLINE: '1' }
}

/** TRL runs on the engine's interpreter, with its own packages beside the engine's. */
function trainOptions({ data }: Run): string[] {
  return [
    ...['--trl-python', pythonIn('engine')],
    ...['--trl-path', sitePackagesOf(environmentFolder('bench'))],
    ...['--trl-log', join(data, 'trl.log')],
  ]
}

/** A copy of the small model with another chat template, if one is named, and the other arguments. */
function templateOf(
  passed: readonly string[],
  data: string,
): { baseModel: string | undefined; rest: readonly string[] } {
  const at = passed.indexOf('--template')
  if (at === -1) return { baseModel: undefined, rest: passed }
  const template = passed[at + 1] ?? ''
  const text = readFileSync(join(ROOT, `engine/tests/chat_templates/${basename(template)}.jinja`))
  const baseModel = join(data, `base-${basename(template)}`)
  cpSync(join(ROOT, 'engine/models/loom-tiny'), baseModel, { recursive: true })
  writeFileSync(join(baseModel, 'chat_template.jinja'), text)
  return { baseModel, rest: passed.toSpliced(at, 2) }
}

function learnOptions({ baseModel }: Run): string[] {
  return baseModel === undefined ? [] : ['--base-model', baseModel]
}

/** The address of vLLM behind Heddle, and the process whose memory is measured. */
function chatOptions(run: Run): string[] {
  const { server, inspector } = run
  return [...engineOptions(run), '--inspector', `http://${inspector}`, '--server-pid', String(server.pid)]
}

/** The address of vLLM behind Heddle. */
function engineOptions({ server }: Run): string[] {
  const { url, key } = engineOf(server)
  return ['--engine-url', url, '--engine-key', key]
}

await main().catch((error: unknown) => {
  process.stderr.write(`\n${messageOf(error)}\n`)
  process.exitCode = 1
})
