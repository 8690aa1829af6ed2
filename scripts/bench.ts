/**
 * `npm run bench -- NAME`: sets everything up, starts a Heddle of its own on a free port with an empty data folder, runs
 * one of the benchmarks in `bench/` against it, and stops it again. A benchmark that compares servers starts all of them
 * itself. `npm run bench -- --help` lists them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { messageOf } from '../src/errors.ts'
import { sitePackagesOf } from '../src/stores/compute/python-environment.ts'
import { refuse } from './arguments.ts'
import { engineOf, engineReady, freePort, type OwnServer, runClient, startServer } from './own-server.ts'
import { type Part, setUp } from './parts.ts'
import { environmentFolder, pythonIn } from './python-environments.ts'
import { NODE, ROOT } from './repository.ts'

interface Bench {
  /** A file of `bench/`. */
  program: string
  needs: readonly Part[]
  /** Arguments that it always gets. */
  fixed?: readonly string[]
  /** For one that is run against a server of its own. */
  withServer?: {
    /** The options that it knows, so that no server starts for one which it would refuse. */
    accepts: readonly string[]
    /** Its arguments besides those of the command line. */
    options: (run: Run) => string[]
  }
}

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

const BENCHES: Readonly<Record<string, Bench>> = {
  train: {
    program: 'train.py',
    needs: ['engine', 'clients', 'bench'],
    withServer: {
      accepts: ['steps', 'warm-up', 'poll-ms', 'learning-rate', 'seed', 'json'],
      options: trainOptions,
    },
  },
  learn: {
    program: 'learn.py',
    needs: ['engine', 'clients'],
    withServer: {
      accepts: ['tasks', 'seeds', 'steps', 'template', 'thinking', 'base-model', 'primer', 'json'],
      options: learnOptions,
    },
  },
  chat: {
    program: 'chat.ts',
    needs: ['engine'],
    withServer: {
      accepts: ['rounds', 'requests', 'skip-memory', 'only-ids', 'json'],
      options: chatOptions,
    },
  },
  streams: {
    program: 'streams.ts',
    needs: ['engine'],
    withServer: { accepts: ['rounds', 'seconds', 'rate', 'json'], options: engineOptions },
  },
  traces: { program: 'traces.ts', needs: ['reference', 'peers'] },
  growth: { program: 'growth.ts', needs: [] },
  cluster: { program: 'cluster.ts', needs: ['reference', 's3', 'postgres'] },
  routing: { program: 'routing.ts', needs: [] },
  mixed: { program: 'mixed.ts', needs: ['reference'] },
  evaluation: { program: 'evaluation.ts', needs: [] },
  neighbour: { program: 'neighbour.ts', needs: [] },
  tenants: { program: 'neighbour.ts', needs: [], fixed: ['--projects', '10'] },
  access: { program: 'access.ts', needs: [] },
  soak: { program: 'soak.ts', needs: [] },
  'power-loss': { program: 'power-loss.ts', needs: [] },
  ui: { program: 'ui.ts', needs: ['browser', 'peers', 'web'] },
  gpu: { program: 'gpu.py', needs: ['bench'] },
}

const HELP = `Usage: npm run bench -- train [--steps N] [--warm-up N] [--poll-ms N] [--learning-rate N] [--seed N] [--json FILE]
       npm run bench -- learn [--tasks NAME …] [--seeds N …] [--steps N] [--template NAME] [--thinking on|off]
                                     [--primer N] [--json FILE]
       npm run bench -- chat [--rounds N] [--requests N] [--skip-memory] [--only-ids] [--json FILE]
       npm run bench -- streams [--rounds N] [--seconds N] [--rate N] [--json FILE]
       npm run bench -- traces [--calls N] [--scale] [--only NAMES] [--json FILE]
       npm run bench -- growth [--calls N] [--folder DIR] [--json FILE]
       npm run bench -- cluster [--calls N] [--rounds N] [--json FILE]
       npm run bench -- routing [--servers N] [--requests N] [--seed N] [--json FILE]
       npm run bench -- mixed [--calls N] [--seconds N] [--rounds N] [--rate N] [--asked N] [--only NAMES] [--json FILE]
       npm run bench -- evaluation [--rows N] [--json FILE]
       npm run bench -- neighbour [--rounds N] [--seconds N] [--floods KIND,…] [--json FILE]
       npm run bench -- tenants [--rounds N] [--seconds N] [--projects N] [--floods KIND,…] [--json FILE]
       npm run bench -- access [--rounds N] [--requests N] [--json FILE]
       npm run bench -- soak [--minutes N] [--json FILE]
       npm run bench -- power-loss [--rounds N] [--json FILE]
       npm run bench -- ui [--calls N] [--peer-calls N] [--rounds N] [--only NAMES] [--json FILE]
       npm run bench -- gpu [--shapes NAME …] [--tokens N …] [--quantization nf4] [--trl NAME …] [--serve NAME …] [--json FILE]

  train  the time of one reinforcement-learning step, its parts, and the same step of TRL's GRPOTrainer
           --steps    measured steps of each kind (default 8)
           --warm-up  steps of each kind before those (default 2)
           --poll-ms  pause between two looks at a job's events (default 50)
           --learning-rate  of both (default 0.002, with which Heddle's answers become longer than TRL's; at 1e-6 both
                            answer as the base model does)
           --seed     of the questions (default 0)
  learn  held-out results before and after training; ends with status 1 unless each of them improved enough
           --tasks    of sums, preference, phone and notation (default all)
           --seeds    one run of each task for each seed (default 0 1 2)
           --steps    steps of reinforcement learning (default: each task's own)
           --template of a copy of the small model: one of engine/tests/chat_templates, such as qwen3
           --thinking the enable_thinking that such a template gets (default: none)
           --primer   demonstrations that the model is fine-tuned on before reinforcement learning, where its answers
                      would otherwise never have a reward, as with a template it has not seen (default 0)
  chat   requests per second and time to the first token through Heddle, beside its vLLM alone, what token ids cost those
         who train, and Heddle's memory
           --rounds       measured rounds of each load (default 9)
           --requests     of a round at 64 at a time; one at a time takes a sixteenth (default 256)
           --skip-memory  leaves out the 10,000 requests over which the memory is read
           --only-ids     takes the time of token ids alone
  streams  times between the tokens of 64 streams, of vLLM alone and through Heddle, with nothing beside them and while
           calls come in
             --rounds   of all four, in turns (default 5)
             --seconds  of each (default 15)
             --rate     calls that come in each second (default 1000)
  traces  calls in and questions out, beside weave's own server on ClickHouse and on SQLite, Phoenix and MLflow
           --calls  how many, about 2 kB each (default 20000)
           --scale  also Heddle alone with 100,000 and 1,000,000 calls: times, memory, disk, and a long stream
           --only   of heddle, before, clickhouse, sqlite, phoenix and mlflow, with commas between them (default all);
                    before is an earlier Heddle, of the checkout with its packages that HEDDLE_BENCH_BEFORE names
  growth  one project that grows: the rate of each tenth of the import, disk, memory, the start over the full folder, and
          questions by day and without, the first with nothing in the caches of the disk (as root on Linux)
           --calls   how many, about 2 kB each, a multiple of 80000 (default 1040000)
           --folder  keeps the data there; one that has data already is asked alone
  cluster  calls in and questions out: Heddle with a database of its own, with one elsewhere, one and two servers with all
           stores elsewhere, and weave's own server, all on the same ClickHouse, in turns
             --calls   of each round (default 20000)
             --rounds  of everything (default 5)
  routing  a simulation: how often requests for many trained models find their adapter and the beginning of their prompt on one of
           several inference servers
             --servers   how many (default 8)
             --requests  of each kind (default 50000)
             --seed      of the requests (default 1)
  mixed  reads while calls come in, beside weave's own server on ClickHouse; eight readers ask a steady number of questions, and
         then as many as they can
           --calls    that are there before (default 20000)
           --seconds  of each load (default 20)
           --rounds   of everything, in turns (default 3)
           --rate     calls that come in each second (default 1000)
           --asked    questions of the steady load each second (default 20)
           --only     of heddle, before and clickhouse, with commas between them (default heddle,clickhouse)
  evaluation  a page of results of ten runs beside pages of calls, and annotation queues of 50,000 calls beside 1,000
           --rows   of each run (default 10000)
  neighbour  small writes, reads and searches of a quiet project, alone and while twelve clients of another send and ask all they can;
             ends with status 1 where the slowest twentieth takes more than three times as long
           --rounds   of each kind of flood (default 3)
           --seconds  of each phase (default 10)
           --floods   of these kinds: writes, reads, both, jobs (default all; jobs only of tenants)
  tenants  the same beside another entity that floods from ten projects at once, also with jobs
             --projects  of the flood (default 10)
  access  the processor time that checking keys and rights adds to a request; ends with status 1 at 0.2 ms or more
           --rounds    of each kind of server (default 15)
           --requests  of each round (default 2000)
  soak  good clients, requests that mean harm and kills at once; ends with status 1 unless nothing acknowledged is missing, no
        good request failed but by a refusal for now or a kill, GET /version has a p99 of 250 ms, and memory came back
           --minutes  in all, besides the start and the end (default 10)
  power-loss  the server's disk loses all that was not synced, and the server starts again on what is left; ends with status 1
              unless everything acknowledged is there. As root on Linux
           --rounds  power failures (default 10)
  ui  the list of traces in Chromium beside Phoenix's and MLflow's pages and an empty one; Heddle's frames while its list
      scrolls, its keys, the memory of the tab, and a trace of 30,000 calls
           --calls       that Heddle holds (default 100000)
           --peer-calls  that each of the others holds, whole traces of 8 (default 20000)
           --rounds      of everything, in turns (default 5)
           --only        of heddle, phoenix and mlflow, with commas between them (default all)
  gpu  what training takes on an NVIDIA GPU, with random weights in the shapes of published models: memory beside what is
       calculated, times of a gradient step, of an update beside TRL's, and of vLLM's start and sleep. HEDDLE_ENGINE_PYTHON
       names a Python with the packages of engine/requirements-gpu.txt
         --shapes        of 0.5B, 1.5B, 7B, 14B, 32B and 72B (default 0.5B 14B)
         --tokens        lengths of the sequences (default 2048 8192 32768)
         --quantization  nf4: linear layers of the base are in 4 bits (default none)
         --trl           shapes that TRL trains as well (default 0.5B)
         --serve         shapes that vLLM serves as well (default 14B)

  --json FILE  also writes all numbers there

Servers are started for the benchmark alone and their data is removed afterwards.
`

async function main(): Promise<void> {
  const [name, ...passed] = process.argv.slice(2)
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP)
    return
  }
  const bench = name !== undefined && Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined
  if (bench === undefined)
    refuse(HELP, name === undefined ? 'No benchmark is named' : `No benchmark is called ${name}`)
  const { withServer } = bench
  const unknown = withServer && passed.find((word) => isOption(word) && !isAmong(withServer.accepts, word))
  if (unknown !== undefined) refuse(HELP, `The benchmark ${name} has no option ${unknown}`)
  await setUp(bench.needs)
  if (withServer === undefined) {
    process.exitCode = await runAlone(bench.program, [...(bench.fixed ?? []), ...passed])
    return
  }
  const data = mkdtempSync(join(tmpdir(), 'heddle-bench-'))
  const inspector = `127.0.0.1:${await freePort()}`
  const { baseModel, rest } =
    name === 'learn' ? templateOf(passed, data) : { baseModel: undefined, rest: passed }
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
    const options = withServer.options({ data, server, inspector, baseModel })
    process.exitCode = await runClient(server, [`bench/${bench.program}`, ...options, ...rest], ENV)
  } finally {
    server.stop()
    await server.closed
    rmSync(data, { recursive: true, force: true })
  }
}

function isOption(word: string): boolean {
  return word.startsWith('-') && Number.isNaN(Number(word))
}

/** Whether a word such as `--json` or `--json=FILE` is one of the options. */
function isAmong(options: readonly string[], word: string): boolean {
  return options.some((option) => word === `--${option}` || word.startsWith(`--${option}=`))
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
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
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
