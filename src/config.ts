import { availableParallelism, homedir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { createSecureContext } from 'node:tls'
import { z } from 'zod'
import { environmentOfEngines } from './child-environment.ts'
import { BASE_QUANTIZATIONS, type EngineConfig, problemsOfEngine } from './engine-settings.ts'
import { messageOf } from './errors.ts'
import { givenSettings } from './given-settings.ts'
import { Gpus } from './gpu-placement.ts'
import { HostNames, Hosts, namesWith } from './hosts-setting.ts'
import { type Networks, parseNetworks } from './http/trusted-proxies.ts'
import { settingProblem, settingProblems, textSetting } from './json-setting.ts'
import { type Providers, readProviders } from './providers.ts'
import { PublicUrl } from './public-address.ts'
import { type RaySetting, readRaySetting } from './ray-setting.ts'
import { type RemoteScorerOptions, readScorerSecrets } from './scorer-secrets.ts'
import { readServersSetting, type ServersSetting } from './servers-setting.ts'
import { readSingleSignOn, type SingleSignOn } from './single-sign-on.ts'
import type { SqlAccess } from './stores/trace-db/embedded/sql-access.ts'
import { readStoresElsewhere, type StoresElsewhere } from './stores-elsewhere.ts'
import { readTelemetrySetting, type TelemetrySetting } from './telemetry-setting.ts'
import { VllmFlags } from './vllm-flags.ts'
import { readWorkspaceSetting, type WorkspaceSetting } from './workspace-setting.ts'

/** The addresses of proxies that run beside the server. */
const THIS_MACHINE = '127.0.0.0/8,::1'

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '::1']

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
const SECRET_CHARS_MIN = 32
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

const Environment = Variables.superRefine((values, context) => {
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

/** What one key, one project or one entity may use of the completions; infinite where nothing was set. */
export interface Limits {
  /** At a time. */
  requestsMax: number
  /** Of prompts and answers together. */
  tokensPerMinute: number
}

/** All settings of the server; the only reader of the environment. */
export interface Config extends StoresElsewhere, ServersSetting, WorkspaceSetting {
  host: string
  /** Names besides those of this machine under which the server is reached. */
  hosts: string[]
  /** The address in links that are handed on, without a slash at its end. */
  publicUrl: string | undefined
  /** Proxies that say by which name and scheme they were reached. */
  trustedProxies: Networks
  /** 0 lets the system choose a free port. */
  port: number
  /** The certificate and key of encrypted connections, in PEM; plain HTTP where absent. */
  tls: { cert: string; key: string } | undefined
  /** Absolute path of the one folder that holds everything embedded. */
  dataFolder: string
  /** Memory for recent calls, in bytes; 0 keeps none. */
  recentCallsBytes: number
  /** Who may read the trace database with SQL. */
  sqlAccess: SqlAccess | undefined
  /** Whether any key is accepted, or those of users. */
  auth: 'local' | 'keys'
  /** The provider through which people may sign in. */
  singleSignOn: SingleSignOn | undefined
  /** Hosts of issuers of identity tokens that need not be public, with `:port` where only that port is meant. */
  identityHosts: string[]
  /** The key of the server; undefined for one in the data folder. */
  secretKey: string | undefined
  /** Where Python environments live, shared by all clones of one user. */
  cacheFolder: string
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  logFormat: 'pretty' | 'json'
  engine: EngineConfig
  /** Where the engine's processes run; undefined for this machine. */
  ray: RaySetting | undefined
  /** Headers that may name the project of a completion, the first one that does counts; lower case. */
  projectHeaders: string[]
  /** Whether every chat completion of a project becomes a call of it. */
  traceCompletions: boolean
  /** Whether scorers that are Python code of clients are run, in processes with limits. */
  scorerCode: 'refuse' | 'run' | 'run-unconfined'
  remoteScorers: RemoteScorerOptions
  /** The collector that the server's own work is reported to. */
  collector: TelemetrySetting | undefined
  keyLimits: Limits
  projectLimits: Limits
  /** External services that may answer completions. */
  providers: Providers
  /** What engines inherit. */
  environment: NodeJS.ProcessEnv
}

/**
 * Threads of libuv. Each operation on a file takes one until it is done, and an fsync may take long; with the default
 * of four, four slow ones would block all others.
 */
const THREADS = 24

/** Sets the size of libuv's thread pool; to be called before the pool is first used. */
export function setThreads(): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(THREADS)
}

/**
 * Reads and checks the environment.
 * @throws Error with one line per bad variable, or when local auth would listen beyond loopback.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const { env, refuseUnread } = givenSettings(environment)
  const config = configOf(env, environment)
  refuseUnread()
  return config
}

/** @param environment what engines inherit, but for settings and secrets */
function configOf(env: NodeJS.ProcessEnv, environment: NodeJS.ProcessEnv): Config {
  const parsed = Environment.safeParse(env)
  if (!parsed.success)
    throw settingProblems(parsed.error.issues.map((issue) => [issue.path.join('.'), issue.message]))
  const values = parsed.data
  if (values.HEDDLE_AUTH === 'local' && !LOOPBACK_HOSTS.includes(values.HEDDLE_HOST)) {
    throw new Error(
      `HEDDLE_AUTH=local accepts any key, so it may only listen on loopback; HEDDLE_HOST is ${values.HEDDLE_HOST}.`,
    )
  }
  const servers = readServersSetting(env)
  const stores = readStoresElsewhere(env)
  const { providers, keyVariables } = readProviders(env)
  const secrets = readScorerSecrets(env)
  return {
    host: values.HEDDLE_HOST,
    hosts: hostsOf(values),
    publicUrl: values.HEDDLE_PUBLIC_URL,
    trustedProxies: values.HEDDLE_TRUSTED_PROXIES,
    port: values.HEDDLE_PORT,
    tls: tlsOf(values),
    dataFolder: resolve(values.HEDDLE_DATA),
    recentCallsBytes: servers.servers === 'several' ? 0 : values.HEDDLE_RECENT_CALLS_MB * 1024 ** 2,
    sqlAccess: sqlAccessOf(values),
    ...stores,
    ...readWorkspaceSetting(env, stores.s3),
    ...servers,
    auth: values.HEDDLE_AUTH,
    singleSignOn: readSingleSignOn(env),
    identityHosts: values.HEDDLE_IDENTITY_HOSTS,
    secretKey: secretKeyOf(values),
    cacheFolder: resolve(
      values.HEDDLE_CACHE ?? join(values.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'heddle'),
    ),
    logLevel: values.HEDDLE_LOG,
    logFormat: values.HEDDLE_LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json'),
    engine: engineConfigOf(values),
    ray: readRaySetting(env),
    projectHeaders: values.HEDDLE_PROJECT_HEADERS,
    traceCompletions: values.HEDDLE_TRACE_COMPLETIONS,
    scorerCode: values.HEDDLE_SCORER_CODE,
    remoteScorers: { hosts: values.HEDDLE_SCORER_HOSTS, secrets },
    keyLimits: {
      requestsMax: values.HEDDLE_KEY_REQUESTS_MAX,
      tokensPerMinute: values.HEDDLE_KEY_TOKENS_PER_MINUTE,
    },
    projectLimits: {
      requestsMax: values.HEDDLE_PROJECT_REQUESTS_MAX,
      tokensPerMinute: values.HEDDLE_PROJECT_TOKENS_PER_MINUTE,
    },
    providers,
    collector: readTelemetrySetting(env),
    environment: environmentOfEngines(environment, [...keyVariables, ...secrets.variables]),
  }
}

function hostsOf({ HEDDLE_PUBLIC_URL: url, ...values }: z.output<typeof Environment>): string[] {
  const names = namesWith(values.HEDDLE_HOSTS, values.HEDDLE_HOST)
  return url === undefined ? names : namesWith(names, new URL(url).hostname)
}

/** @throws Error for a file that cannot be read, or that is no certificate with its key. */
function tlsOf({ HEDDLE_TLS_CERT: certFile, HEDDLE_TLS_KEY: keyFile }: z.output<typeof Environment>) {
  if (certFile === undefined || keyFile === undefined) return undefined
  const cert = textSetting('HEDDLE_TLS_CERT', certFile, { charsMin: 1 })
  const key = textSetting('HEDDLE_TLS_KEY', keyFile, { charsMin: 1 })
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    const reason = messageOf(error)
    throw settingProblem(
      'HEDDLE_TLS_CERT',
      `${certFile} is no certificate in PEM with the key ${keyFile}: ${reason}`,
    )
  }
  return { cert, key }
}

/** @throws Error for a folder that holds the data folder, since a start removes what it finds. */
function engineFolderOf({ HEDDLE_ENGINE_FOLDER: given, HEDDLE_DATA: data }: z.output<typeof Environment>) {
  if (given === undefined) return resolve(data, 'engine')
  const folder = resolve(given)
  if (`${resolve(data)}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`))
    throw settingProblem(
      'HEDDLE_ENGINE_FOLDER',
      `${folder} holds the data folder ${resolve(data)}, and a start removes what it finds there`,
    )
  return folder
}

/** @throws Error for a file that cannot be read or holds too little; its text is not repeated. */
function secretKeyOf(values: z.output<typeof Environment>): string | undefined {
  const { HEDDLE_SECRET_KEY: key, HEDDLE_SECRET_KEY_FILE: file } = values
  if (file === undefined) return key
  return textSetting('HEDDLE_SECRET_KEY_FILE', file, { charsMin: SECRET_CHARS_MIN })
}

function sqlAccessOf(values: z.output<typeof Environment>): SqlAccess | undefined {
  const { HEDDLE_SQL_PORT: port, HEDDLE_SQL_PASSWORD: password } = values
  return port === undefined || password === undefined ? undefined : { port, password }
}

function engineConfigOf(values: z.output<typeof Environment>): EngineConfig {
  const { HEDDLE_VLLM_URL: url, HEDDLE_VLLM_URLS: urls = url === undefined ? [] : [url] } = values
  return {
    baseModel: values.HEDDLE_BASE_MODEL,
    baseModels: values.HEDDLE_BASE_MODELS,
    baseQuantization: values.HEDDLE_BASE_QUANTIZATION,
    python: values.HEDDLE_ENGINE_PYTHON,
    folder: engineFolderOf(values),
    memoryGb: values.HEDDLE_ENGINE_MEMORY_GB,
    idleMinutes: values.HEDDLE_ENGINE_IDLE_MINUTES,
    threads: values.HEDDLE_ENGINE_THREADS,
    stallSeconds: values.HEDDLE_STALL_SECONDS,
    kvCacheGb: values.HEDDLE_KV_CACHE_GB,
    gpuMemory: values.HEDDLE_GPU_MEMORY,
    gpus: { serving: values.HEDDLE_GPUS_SERVING, training: values.HEDDLE_GPUS_TRAINING },
    vllmFlags: values.HEDDLE_VLLM_FLAGS,
    sleeps: values.HEDDLE_GPU_SLEEP === 'on',
    metricPasses: values.HEDDLE_METRIC_PASSES,
    gradientCheckpointing: values.HEDDLE_GRADIENT_CHECKPOINTING,
    maxModelLen: values.HEDDLE_MAX_MODEL_LEN,
    maxNumSeqs: values.HEDDLE_MAX_NUM_SEQS,
    maxLoras: values.HEDDLE_MAX_LORAS,
    loraRankMax: values.HEDDLE_LORA_RANK_MAX,
    priorityScheduling: values.HEDDLE_PRIORITY_SCHEDULING,
    mmProcessorKwargs: values.HEDDLE_MM_PROCESSOR_KWARGS === 'allow',
    requireSampledContext: values.HEDDLE_REBUILT_CONTEXT === 'refuse',
    toolParser: values.HEDDLE_TOOL_PARSER,
    reasoningParser: values.HEDDLE_REASONING_PARSER,
    vllm:
      urls.length === 0
        ? undefined
        : { urls, workers: values.HEDDLE_VLLM_WORKERS ?? [], key: values.HEDDLE_VLLM_KEY },
  }
}
