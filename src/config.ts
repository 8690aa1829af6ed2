import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '::1']

/** The inference engine knows these; a higher one makes every adapter cost as much as one of that rank. */
const LORA_RANKS = [8, 16, 32, 64, 128, 256, 320, 512]

const Environment = z.object({
  HEDDLE_HOST: z.string().default('127.0.0.1'),
  HEDDLE_PORT: z.coerce.number().int().min(0).max(65535).default(6060),
  HEDDLE_DATA: z.string().default('./data'),
  HEDDLE_AUTH: z.enum(['local']).default('local'),
  HEDDLE_CACHE: z.string().optional(),
  HEDDLE_LOG: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  HEDDLE_LOG_FORMAT: z.enum(['pretty', 'json']).optional(),
  HEDDLE_BASE_MODEL: z.string().default('heddle/loom-tiny'),
  HEDDLE_ENGINE_PYTHON: z.string().optional(),
  HEDDLE_STALL_SECONDS: z.coerce.number().positive().default(120),
  HEDDLE_LORA_RANK_MAX: z.coerce
    .number()
    .refine((rank) => LORA_RANKS.includes(rank), { error: `one of ${LORA_RANKS.join(', ')}` })
    .default(16),
  XDG_CACHE_HOME: z.string().optional(),
})

/** Everything the server may be told from outside; the only reader of the environment. */
export interface Config {
  host: string
  /** 0 lets the system choose a free port. */
  port: number
  /** Absolute path of the one folder that holds everything embedded. */
  dataFolder: string
  auth: 'local'
  /** Where Python environments live, shared by all clones of one user. */
  cacheFolder: string
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  logFormat: 'pretty' | 'json'
  /** The model that is served from the start: an id of `engine/models`, a local folder or a Hugging Face id. */
  baseModel: string
  /** A Python with the engine's packages, instead of the one that set-up made. */
  enginePython: string | undefined
  /** Seconds without progress after which an engine or a training job counts as hanging. */
  stallSeconds: number
  /** The largest rank of an adapter. */
  loraRankMax: number
  /** What child processes inherit. */
  environment: NodeJS.ProcessEnv
}

/**
 * Reads and checks the environment.
 * @throws Error with one line per bad variable, or when local auth would listen beyond loopback.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = Environment.safeParse(env)
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new Error(`Bad configuration:\n  ${lines.join('\n  ')}`)
  }
  const values = parsed.data
  if (values.HEDDLE_AUTH === 'local' && !LOOPBACK_HOSTS.includes(values.HEDDLE_HOST)) {
    throw new Error(
      `HEDDLE_AUTH=local accepts any key, so it may only listen on loopback; HEDDLE_HOST is ${values.HEDDLE_HOST}.`,
    )
  }
  return {
    host: values.HEDDLE_HOST,
    port: values.HEDDLE_PORT,
    dataFolder: resolve(values.HEDDLE_DATA),
    auth: values.HEDDLE_AUTH,
    cacheFolder: resolve(
      values.HEDDLE_CACHE ?? join(values.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'heddle'),
    ),
    logLevel: values.HEDDLE_LOG,
    logFormat: values.HEDDLE_LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json'),
    baseModel: values.HEDDLE_BASE_MODEL,
    enginePython: values.HEDDLE_ENGINE_PYTHON,
    stallSeconds: values.HEDDLE_STALL_SECONDS,
    loraRankMax: values.HEDDLE_LORA_RANK_MAX,
    environment: env,
  }
}
