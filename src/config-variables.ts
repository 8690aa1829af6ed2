import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { parseNetworks } from './http/trusted-proxies.ts'
import { HostNames, Hosts } from './settings/hosts-setting.ts'
import { PublicUrl } from './settings/public-address.ts'
import { VllmFlags } from './settings/vllm-flags.ts'
import { BASE_QUANTIZATIONS, problemsOfEngine } from './stores/compute/engine-settings.ts'
import { Gpus } from './stores/compute/gpu-placement.ts'

/** The addresses of proxies that run beside the server. */
const THIS_MACHINE = '127.0.0.0/8,::1'

/** The inference engine knows these; a higher one makes every adapter cost as much as one of that rank. */
const LORA_RANKS = [8, 16, 32, 64, 128, 256, 320, 512]

/** A week: timers of Node count at most 24 days. */
const IDLE_MINUTES_MAX = 7 * 24 * 60

/** A day: what is silent for longer does not come back. */
const STALL_SECONDS_MAX = 24 * 3600

/** The memory is that of the thread that serves, whose garbage collector looks through it. */
const RECENT_CALLS_MB_MAX = 1024

/** One core is left to the thread that feeds the engine's threads. */
const THREADS_DEFAULT = Math.max(1, availableParallelism() - 1)

const Count = z.coerce.number().int().positive()
const Url = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''))
const Urls = z
  .string()
  .transform((text) => text.split(',').map((url) => url.trim()))
  .pipe(z.array(Url))

/** Lower case; the characters are those of RFC 9110. */
const HeaderNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim().toLowerCase()))
  .pipe(z.array(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'header names, separated by commas' })))

const Names = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.string().min(1)))

const ProxyNetworks = z
  .string()
  .transform((text) => text.split(',').map((network) => network.trim()))
  .transform((texts, context) => {
    const networks = parseNetworks(texts)
    if (networks !== undefined) return networks
    context.addIssue({
      code: 'custom',
      message: 'addresses or networks such as 10.0.0.0/8, separated by commas',
    })
    return z.NEVER
  })

const Limit = z.coerce.number().int().positive().default(Number.POSITIVE_INFINITY)

/** 32 bytes in hexadecimal or base64 have more characters. */
export const SECRET_CHARS_MIN = 32
const SecretText = z
  .string()
  .trim()
  .min(SECRET_CHARS_MIN, { error: `at least ${SECRET_CHARS_MIN} characters` })

const Variables = z.object({
  HEDDLE_HOST: z.string().default('127.0.0.1'),
  HEDDLE_HOSTS: HostNames.default([]),
  HEDDLE_PUBLIC_URL: PublicUrl.optional(),
  HEDDLE_TRUSTED_PROXIES: ProxyNetworks.prefault(THIS_MACHINE),
  HEDDLE_PORT: z.coerce.number().int().min(0).max(65535).default(6060),
  HEDDLE_DATA: z.string().default('./data'),
  HEDDLE_RECENT_CALLS_MB: z.coerce.number().int().min(0).max(RECENT_CALLS_MB_MAX).default(128),
  HEDDLE_SQL_PORT: z.coerce.number().int().min(1).max(65535).optional(),
  HEDDLE_SQL_PASSWORD: z
    .string()
    .regex(/^[\w-]{16,}$/, { error: 'at least 16 letters, digits, - and _' })
    .optional(),
  HEDDLE_TLS_CERT: z.string().optional(),
  HEDDLE_TLS_KEY: z.string().optional(),
  HEDDLE_AUTH: z.enum(['local', 'keys']).default('local'),
  HEDDLE_SECRET_KEY: SecretText.optional(),
  HEDDLE_SECRET_KEY_FILE: z.string().optional(),
  HEDDLE_IDENTITY_HOSTS: Hosts.default([]),
  HEDDLE_CACHE: z.string().optional(),
  HEDDLE_LOG: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  HEDDLE_LOG_FORMAT: z.enum(['pretty', 'json']).optional(),
  HEDDLE_BASE_MODEL: z.string().default('heddle/loom-tiny'),
  HEDDLE_BASE_MODELS: Names.default([]),
  HEDDLE_BASE_QUANTIZATION: z.enum(BASE_QUANTIZATIONS).default('none'),
  HEDDLE_ENGINE_PYTHON: z.string().optional(),
  HEDDLE_ENGINE_FOLDER: z.string().optional(),
  HEDDLE_ENGINE_MEMORY_GB: z.coerce.number().positive().optional(),
  HEDDLE_ENGINE_IDLE_MINUTES: z.coerce.number().min(0).max(IDLE_MINUTES_MAX).default(30),
  HEDDLE_ENGINE_THREADS: Count.default(THREADS_DEFAULT),
  HEDDLE_STALL_SECONDS: z.coerce.number().positive().max(STALL_SECONDS_MAX).default(120),
  HEDDLE_KV_CACHE_GB: Count.default(1),
  HEDDLE_GPU_MEMORY: z.coerce.number().positive().max(1).default(0.7),
  HEDDLE_GPU_SLEEP: z.enum(['on', 'off']).default('off'),
  /** Refused by name, since a start without it would end processes that are to sleep. */
  HEDDLE_VLLM_SLEEP: z
    .never({ error: 'HEDDLE_GPU_SLEEP is the setting, for inference servers and trainers' })
    .optional(),
  HEDDLE_GPUS_SERVING: Gpus.default([]),
  HEDDLE_GPUS_TRAINING: Gpus.default([]),
  HEDDLE_METRIC_PASSES: z.enum(['all', 'sampled', 'none']).default('all'),
  HEDDLE_GRADIENT_CHECKPOINTING: z.enum(['auto', 'on', 'off']).default('auto'),
  HEDDLE_VLLM_FLAGS: VllmFlags.default([]),
  /** Refused by name, since a start without it would serve on one GPU. */
  HEDDLE_TENSOR_PARALLEL: z
    .never({ error: 'is no setting any more: HEDDLE_GPUS_SERVING names the GPUs' })
    .optional(),
  HEDDLE_MAX_MODEL_LEN: Count.optional(),
  HEDDLE_MAX_NUM_SEQS: Count.default(128),
  HEDDLE_MAX_LORAS: Count.default(4),
  HEDDLE_LORA_RANK_MAX: z.coerce
    .number()
    .refine((rank) => LORA_RANKS.includes(rank), { error: `one of ${LORA_RANKS.join(', ')}` })
    .default(16),
  HEDDLE_PRIORITY_SCHEDULING: z.stringbool().default(false),
  HEDDLE_MM_PROCESSOR_KWARGS: z.enum(['refuse', 'allow']).default('refuse'),
  HEDDLE_REBUILT_CONTEXT: z.enum(['warn', 'refuse']).default('warn'),
  HEDDLE_TOOL_PARSER: z.string().default('hermes'),
  HEDDLE_REASONING_PARSER: z.string().optional(),
  HEDDLE_VLLM_URL: Url.optional(),
  HEDDLE_VLLM_URLS: Urls.optional(),
  HEDDLE_VLLM_WORKERS: Urls.optional(),
  HEDDLE_VLLM_KEY: z.string().optional(),
  HEDDLE_PROJECT_HEADERS: HeaderNames.default(['openai-project', 'heddle-project']),
  HEDDLE_SCORER_CODE: z.enum(['refuse', 'run', 'run-unconfined']).default('refuse'),
  HEDDLE_SCORER_HOSTS: Hosts.default([]),
  HEDDLE_TRACE_COMPLETIONS: z.stringbool().default(false),
  HEDDLE_KEY_REQUESTS_MAX: Limit,
  HEDDLE_KEY_TOKENS_PER_MINUTE: Limit,
  HEDDLE_PROJECT_REQUESTS_MAX: Limit,
  HEDDLE_PROJECT_TOKENS_PER_MINUTE: Limit,
  XDG_CACHE_HOME: z.string().optional(),
})

const PAIRS = [
  ['HEDDLE_TLS_CERT', 'HEDDLE_TLS_KEY'],
  ['HEDDLE_SQL_PORT', 'HEDDLE_SQL_PASSWORD'],
] as const

/** The variables that no other file reads (`*-setting.ts`, `providers.ts` and the like do). */
export const Environment = Variables.superRefine((values, context) => {
  if (values.HEDDLE_SECRET_KEY !== undefined && values.HEDDLE_SECRET_KEY_FILE !== undefined) {
    const message = 'HEDDLE_SECRET_KEY is set as well, of which one is enough'
    context.addIssue({ code: 'custom', path: ['HEDDLE_SECRET_KEY_FILE'], message })
  }
  for (const [one, other] of PAIRS) {
    if ((values[one] === undefined) === (values[other] === undefined)) continue
    const missing = values[one] === undefined ? one : other
    context.addIssue({ code: 'custom', path: [missing], message: `${one} and ${other} are set together` })
  }
  if (values.HEDDLE_SQL_PORT === values.HEDDLE_PORT)
    context.addIssue({ code: 'custom', path: ['HEDDLE_SQL_PORT'], message: 'is the port of HEDDLE_PORT' })
  for (const { name, message } of problemsOfEngine(values))
    context.addIssue({ code: 'custom', path: [name], message })
})

export type Values = z.output<typeof Environment>
