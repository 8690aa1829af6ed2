import { execFileSync } from 'node:child_process'
import { messageOf } from '../../errors.ts'

/** `nvidia-smi` answers within a second, unless the driver hangs. */
const ANSWER_MS_MAX = 5_000

const QUERY = ['--query-gpu=index,memory.total', '--format=csv,noheader,nounits']

const MB = 1024 ** 2

export interface GpuMemoryOptions {
  /** GPUs that are used, as `nvidia-smi` numbers them; all where none are named. */
  named: readonly number[]
  environment: NodeJS.ProcessEnv
  answerMsMax?: number
}

/** The memory of GPUs could not be read. */
export class UnknownGpuMemory extends Error {}

/**
 * The memory of the smallest of these GPUs, in bytes.
 *
 * @throws UnknownGpuMemory where `nvidia-smi` does not answer with it, Error for a named GPU that is not there.
 */
export function readGpuBytes({ named, environment, answerMsMax = ANSWER_MS_MAX }: GpuMemoryOptions): number {
  const all = bytesOfGpus(askNvidiaSmi(environment, answerMsMax))
  const absent = named.filter((gpu) => !all.has(gpu))
  if (absent.length > 0)
    throw new Error(
      `HEDDLE_GPUS_SERVING or HEDDLE_GPUS_TRAINING names GPU ${absent.join(', ')}, but nvidia-smi lists ${[...all.keys()].join(', ')}`,
    )
  const used = [...all].flatMap(([gpu, bytes]) => (named.length === 0 || named.includes(gpu) ? [bytes] : []))
  return Math.min(...used)
}

function askNvidiaSmi(env: NodeJS.ProcessEnv, timeout: number): string {
  try {
    // A program that waits for a driver may ignore the polite signal.
    const options = { env, timeout, killSignal: 'SIGKILL', encoding: 'utf8', stdio: 'pipe' } as const
    return execFileSync('nvidia-smi', QUERY, options)
  } catch (error) {
    throw unknown(reasonOf(error, timeout))
  }
}

/** By number. @throws UnknownGpuMemory where the memory of none is listed */
function bytesOfGpus(listed: string): Map<number, number> {
  const rows = listed
    .trim()
    .split('\n')
    .map((line) => line.split(',').map(Number))
  const all = new Map(
    rows.flatMap(([gpu = Number.NaN, megabytes = Number.NaN]) =>
      Number.isFinite(gpu + megabytes) ? [[gpu, megabytes * MB] as const] : [],
    ),
  )
  if (all.size === 0) throw unknown(`it lists no memory of a GPU: ${firstLine(listed)}`)
  return all
}

function unknown(reason: string): UnknownGpuMemory {
  return new UnknownGpuMemory(`nvidia-smi could not be asked: ${reason}`)
}

/** What the program wrote, which it does to stdout too, or why it did not run. */
function reasonOf(error: unknown, timeoutMs: number): string {
  // As `execFileSync` documents its errors.
  const { code, stdout, stderr } = error as { code?: string; stdout?: string | null; stderr?: string | null }
  if (code === 'ETIMEDOUT') return `no answer within ${timeoutMs / 1000} s`
  return firstLine(stderr || stdout || messageOf(error))
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
