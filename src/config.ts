import { homedir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { createSecureContext } from 'node:tls'
import { Environment, SECRET_CHARS_MIN, type Values } from './config-variables.ts'
import { messageOf } from './errors.ts'
import type { Networks } from './http/trusted-proxies.ts'
import { givenSettings } from './settings/given-settings.ts'
import { namesWith } from './settings/hosts-setting.ts'
import { type Providers, readProviders } from './settings/providers.ts'
import { readRaySetting } from './settings/ray-setting.ts'
import { textSetting, variableSettings } from './settings/read-setting.ts'
import { type RemoteScorerOptions, readScorerSecrets } from './settings/scorer-secrets.ts'
import { readServersSetting, type ServersSetting } from './settings/servers-setting.ts'
import { readAll, settingProblem } from './settings/setting-problems.ts'
import { readSingleSignOn, type SingleSignOn } from './settings/single-sign-on.ts'
import { readStoresElsewhere, type StoresElsewhere } from './settings/stores-elsewhere.ts'
import { readTelemetrySetting, type TelemetrySetting } from './settings/telemetry-setting.ts'
import { readWorkspaceSetting, type WorkspaceSetting } from './settings/workspace-setting.ts'
import type { EngineConfig } from './stores/compute/engine-settings.ts'
import type { RaySetting } from './stores/compute/ray/jobs-api.ts'
import { environmentOfEngines } from './stores/processes/child-environment.ts'
import type { SqlAccess } from './stores/trace-db/embedded/sql-access.ts'

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '::1']

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
 * @throws Error with one line per problem: first with those of single variables, then of what depends on several, then
 * of unknown names.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const { env, refuseUnread } = givenSettings(environment)
  const config = configOf(env, environment)
  refuseUnread()
  return config
}

/** @param environment what engines inherit, but for settings and secrets */
function configOf(env: NodeJS.ProcessEnv, environment: NodeJS.ProcessEnv): Config {
  const { values, servers, stores, byProvider, secrets, ...rest } = readAll({
    values: () => variableSettings(Environment, env),
    servers: () => readServersSetting(env),
    stores: () => readStoresElsewhere(env),
    byProvider: () => readProviders(env),
    secrets: () => readScorerSecrets(env),
    singleSignOn: () => readSingleSignOn(env),
    ray: () => readRaySetting(env),
    collector: () => readTelemetrySetting(env),
  })
  const { workspace, ...ofValues } = readAll({
    workspace: () => readWorkspaceSetting(env, stores.s3),
    host: () => hostOf(values),
    tls: () => tlsOf(values),
    secretKey: () => secretKeyOf(values),
    engine: () => engineConfigOf(values),
  })
  return {
    ...rest,
    ...ofValues,
    hosts: hostsOf(values),
    publicUrl: values.HEDDLE_PUBLIC_URL,
    trustedProxies: values.HEDDLE_TRUSTED_PROXIES,
    port: values.HEDDLE_PORT,
    dataFolder: resolve(values.HEDDLE_DATA),
    recentCallsBytes: servers.servers === 'several' ? 0 : values.HEDDLE_RECENT_CALLS_MB * 1024 ** 2,
    sqlAccess: sqlAccessOf(values),
    ...stores,
    ...workspace,
    ...servers,
    auth: values.HEDDLE_AUTH,
    identityHosts: values.HEDDLE_IDENTITY_HOSTS,
    cacheFolder: resolve(
      values.HEDDLE_CACHE ?? join(values.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'heddle'),
    ),
    logLevel: values.HEDDLE_LOG,
    logFormat: values.HEDDLE_LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json'),
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
    providers: byProvider.providers,
    environment: environmentOfEngines(environment, [...byProvider.keyVariables, ...secrets.variables]),
  }
}

/** @throws Error where local auth would listen beyond loopback */
function hostOf({ HEDDLE_HOST: host, HEDDLE_AUTH: auth }: Values): string {
  if (auth === 'local' && !LOOPBACK_HOSTS.includes(host))
    throw settingProblem(
      'HEDDLE_HOST',
      `${host} is not loopback, where alone HEDDLE_AUTH=local, which accepts any key, may listen`,
    )
  return host
}

function hostsOf({ HEDDLE_PUBLIC_URL: url, ...values }: Values): string[] {
  const names = namesWith(values.HEDDLE_HOSTS, values.HEDDLE_HOST)
  return url === undefined ? names : namesWith(names, new URL(url).hostname)
}

/** @throws Error for a file that cannot be read, or that is no certificate with its key. */
function tlsOf({ HEDDLE_TLS_CERT: certFile, HEDDLE_TLS_KEY: keyFile }: Values) {
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
function engineFolderOf({ HEDDLE_ENGINE_FOLDER: given, HEDDLE_DATA: data }: Values) {
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
function secretKeyOf(values: Values): string | undefined {
  const { HEDDLE_SECRET_KEY: key, HEDDLE_SECRET_KEY_FILE: file } = values
  if (file === undefined) return key
  return textSetting('HEDDLE_SECRET_KEY_FILE', file, { charsMin: SECRET_CHARS_MIN })
}

function sqlAccessOf(values: Values): SqlAccess | undefined {
  const { HEDDLE_SQL_PORT: port, HEDDLE_SQL_PASSWORD: password } = values
  return port === undefined || password === undefined ? undefined : { port, password }
}

function engineConfigOf(values: Values): EngineConfig {
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
