/**
 * The benchmarks: what each measures, the program in `bench/` that does it, that program's options, and what it needs.
 */
import type { Part } from './parts.ts'

export interface Bench {
  /** What it measures, as help says. */
  about: string
  /** A file of `bench/`. */
  program: string
  needs: readonly Part[]
  /** Each as Commander writes it, and what help says of it. The program reads them, and has the defaults. */
  options: Readonly<Record<string, string>>
  /** Arguments that it always gets. */
  fixed?: readonly string[]
}

const NEIGHBOUR = {
  '--rounds <n>': 'of each kind of flood (default 3)',
  '--seconds <n>': 'of each phase (default 10)',
  '--floods <kinds>':
    'of these: writes, reads, both, jobs, with commas between them (default all; jobs only of tenants)',
}

/** By the name that `npm run bench -- NAME` takes. Each has `--json FILE` as well. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  train: {
    about: "the time of one reinforcement-learning step, its parts, and the same step of TRL's GRPOTrainer",
    program: 'train.py',
    needs: ['engine', 'clients', 'bench'],
    options: {
      '--steps <n>': 'measured steps of each kind (default 8)',
      '--warm-up <n>': 'steps of each kind before those (default 2)',
      '--poll-ms <n>': "pause between two looks at a job's events (default 50)",
      '--learning-rate <n>':
        "of both (default 0.002, with which Heddle's answers become longer than TRL's; at 1e-6 both answer as the base model does)",
      '--seed <n>': 'of the questions (default 0)',
    },
  },
  learn: {
    about:
      'held-out results before and after training; ends with status 1 unless each of them improved enough',
    program: 'learn.py',
    needs: ['engine', 'clients'],
    options: {
      '--tasks <names...>': 'of sums, preference, phone and notation (default all)',
      '--seeds <n...>': 'one run of each task for each seed (default 0 1 2)',
      '--steps <n>': "steps of reinforcement learning (default: each task's own)",
      '--template <name>': 'of a copy of the small model: one of engine/tests/chat_templates, such as qwen3',
      '--thinking <value>': 'on or off: the enable_thinking that such a template gets (default: none)',
      '--primer <n>':
        'demonstrations that the model is fine-tuned on before reinforcement learning, where its answers would otherwise never have a reward, as with a template it has not seen (default 0)',
    },
  },
  chat: {
    about:
      "requests per second and time to the first token through Heddle, beside its vLLM alone, what token ids cost those who train, and Heddle's memory",
    program: 'chat.ts',
    needs: ['engine'],
    options: {
      '--rounds <n>': 'measured rounds of each load (default 9)',
      '--requests <n>': 'of a round at 64 at a time; one at a time takes a sixteenth (default 256)',
      '--skip-memory': 'leaves out the 10,000 requests over which the memory is read',
      '--only-ids': 'takes the time of token ids alone',
    },
  },
  streams: {
    about:
      'times between the tokens of 64 streams, of vLLM alone and through Heddle, with nothing beside them and while calls come in',
    program: 'streams.ts',
    needs: ['engine'],
    options: {
      '--rounds <n>': 'of all four, in turns (default 5)',
      '--seconds <n>': 'of each (default 15)',
      '--rate <n>': 'calls that come in each second (default 1000)',
    },
  },
  traces: {
    about:
      "calls in and questions out, beside weave's own server on ClickHouse and on SQLite, Phoenix and MLflow",
    program: 'traces.ts',
    needs: ['reference', 'peers'],
    options: {
      '--calls <n>': 'how many, about 2 kB each (default 20000)',
      '--settle': 'waits before the questions until the background work of a server has ended',
      '--scale': 'also Heddle alone with 100,000 and 1,000,000 calls: times, memory, disk, and a long stream',
      '--only <names>':
        'of heddle, before, clickhouse, sqlite, phoenix and mlflow, with commas between them (default all); before is an earlier Heddle, of the checkout with its packages that HEDDLE_BENCH_BEFORE names',
      '--ways <names>':
        'of calls/complete, call/upsert_batch and OTLP, with commas between them (default all)',
    },
  },
  growth: {
    about:
      'one project that grows: the rate of each tenth of the import, disk, memory, the start over the full folder, and questions by day and without, the first with nothing in the caches of the disk (as root on Linux)',
    program: 'growth.ts',
    needs: [],
    options: {
      '--calls <n>': 'how many, about 2 kB each, a multiple of 80000 (default 1040000)',
      '--folder <dir>': 'keeps the data there; one that has data already is asked alone',
    },
  },
  cluster: {
    about:
      "calls in and questions out: Heddle with a database of its own, with one elsewhere, one and two servers with all stores elsewhere, and weave's own server, all on the same ClickHouse, in turns",
    program: 'cluster.ts',
    needs: ['reference', 's3', 'postgres'],
    options: {
      '--calls <n>': 'of each round (default 20000)',
      '--rounds <n>': 'of everything (default 5)',
    },
  },
  routing: {
    about:
      'a simulation: how often requests for many trained models find their adapter and the beginning of their prompt on one of several inference servers',
    program: 'routing.ts',
    needs: [],
    options: {
      '--servers <n>': 'how many (default 8)',
      '--requests <n>': 'of each kind (default 50000)',
      '--seed <n>': 'of the requests (default 1)',
    },
  },
  mixed: {
    about:
      "reads while calls come in, beside weave's own server on ClickHouse; eight readers ask a steady number of questions, and then as many as they can",
    program: 'mixed.ts',
    needs: ['reference'],
    options: {
      '--calls <n>': 'that are there before (default 20000)',
      '--seconds <n>': 'of each load (default 20)',
      '--rounds <n>': 'of everything, in turns (default 3)',
      '--rate <n>': 'calls that come in each second (default 1000)',
      '--asked <n>': 'questions of the steady load each second (default 20)',
      '--only <names>':
        'of heddle, before and clickhouse, with commas between them (default heddle,clickhouse)',
    },
  },
  evaluation: {
    about:
      'a page of results of ten runs beside pages of calls, and annotation queues of 50,000 calls beside 1,000',
    program: 'evaluation.ts',
    needs: [],
    options: { '--rows <n>': 'of each run (default 10000)' },
  },
  neighbour: {
    about:
      'small writes, reads and searches of a quiet project, alone and while twelve clients of another send and ask all they can; ends with status 1 where the slowest twentieth takes more than three times as long',
    program: 'neighbour.ts',
    needs: [],
    options: NEIGHBOUR,
  },
  tenants: {
    about: 'the same beside another entity that floods from ten projects at once, also with jobs',
    program: 'neighbour.ts',
    needs: [],
    options: { ...NEIGHBOUR, '--projects <n>': 'of the flood (default 10)' },
    fixed: ['--projects', '10'],
  },
  access: {
    about:
      'the processor time that checking keys and rights adds to a request; ends with status 1 at 0.2 ms or more',
    program: 'access.ts',
    needs: [],
    options: {
      '--rounds <n>': 'of each kind of server (default 15)',
      '--requests <n>': 'of each round (default 2000)',
    },
  },
  soak: {
    about:
      'well-behaved clients, hostile requests and kills at once; ends with status 1 if an acknowledged write is missing, a good request failed for another reason than a temporary refusal or a kill, the p99 of GET /version exceeds 250 ms, or memory does not return to its level',
    program: 'soak.ts',
    needs: [],
    options: { '--minutes <n>': 'in all, besides the start and the end (default 10)' },
  },
  'power-loss': {
    about:
      'simulated power failures: writes that were not synced to disk are lost and the server restarts; ends with status 1 if an acknowledged write is missing (as root on Linux)',
    program: 'power-loss.ts',
    needs: [],
    options: { '--rounds <n>': 'power failures (default 10)' },
  },
  ui: {
    about:
      "the list of traces in Chromium beside Phoenix's and MLflow's pages and an empty one; Heddle's frames while its list scrolls, its keys, the memory of the tab, and a trace of 30,000 calls",
    program: 'ui.ts',
    needs: ['browser', 'peers', 'web'],
    options: {
      '--calls <n>': 'that Heddle holds (default 100000)',
      '--peer-calls <n>': 'that each of the others holds, whole traces of 8 (default 20000)',
      '--rounds <n>': 'of everything, in turns (default 5)',
      '--only <names>': 'of heddle, phoenix and mlflow, with commas between them (default all)',
    },
  },
  gpu: {
    about:
      "what training takes on an NVIDIA GPU, with random weights in the shapes of published models: memory beside what is calculated, times of a gradient step, of an update beside TRL's, and of vLLM's start and sleep. HEDDLE_ENGINE_PYTHON names a Python with the packages of engine/requirements-gpu.txt",
    program: 'gpu.py',
    needs: ['bench'],
    options: {
      '--shapes <names...>': 'of 0.5B, 1.5B, 7B, 14B, 32B and 72B (default 0.5B 14B)',
      '--tokens <n...>': 'lengths of the sequences (default 2048 8192 32768)',
      '--quantization <kind>': 'nf4: linear layers of the base are in 4 bits (default none)',
      '--trl [names...]': 'shapes that TRL trains as well (default 0.5B)',
      '--serve [names...]': 'shapes that vLLM serves as well (default 14B)',
      '--eager': 'vLLM without compiled kernels and graphs',
      '--folder <dir>': 'for the models (default /dev/shm/heddle-bench-gpu)',
      '--keep': 'leaves the models there, and uses those that are',
    },
  },
}
