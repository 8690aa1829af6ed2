import { join } from 'node:path'
import { type App, createApp } from './app.ts'
import type { InferenceOptions } from './areas/inference.ts'
import type { ScorerPython } from './evaluation/scorers/scorer-processes.ts'
import { buildApp } from './http/build-app.ts'
import type { Route } from './http/route.ts'
import { createLog } from './log.ts'
import { openStores, type StoreOptions, type Stores } from './open-stores.ts'
import type { Providers } from './settings/providers.ts'
import type { PublicAddress } from './settings/public-address.ts'
import { readScorerSecrets } from './settings/scorer-secrets.ts'
import type { ServersSetting } from './settings/servers-setting.ts'
import type { SingleSignOn } from './settings/single-sign-on.ts'
import type { Compute } from './stores/compute/port.ts'
import { unavailableCompute } from './stores/compute/unavailable.ts'
import { NO_TELEMETRY, type Telemetry } from './telemetry.ts'
import { NO_UNEXPECTED_ERRORS } from './unexpected-errors.ts'
import { VERSION } from './version.ts'

export interface TestAppOptions {
  /** By default, any key is accepted. */
  auth?: 'local' | 'keys'
  singleSignOn?: SingleSignOn
  identityHosts?: readonly string[]
  /** By default, the one by which the server is reached. */
  publicAddress?: PublicAddress
  /** The clock of budgets. */
  now?: () => Date
  /** The compute adapter; without one, the server is as on a machine without the engine. */
  compute?: (folder: string) => Compute
  inference?: Partial<InferenceOptions>
  /** External providers; none where absent. */
  providers?: Providers
  /** Runs scorers that are code; they are refused where absent. */
  scorerPython?: ScorerPython
  /** Memory for recent calls. None by default, so that tests of queries ask the database. */
  recentCallsBytes?: number
  /** Records nothing by default. */
  telemetry?: Telemetry
  /** All by default. */
  role?: ServersSetting['role']
  /** Stores elsewhere; all are in the folder where absent. */
  stores?: StoreOptions
  /** Settings of scorers behind a URL, as environment variables. */
  remoteScorers?: { hosts: string[]; secrets?: object }
}

const UNLIMITED = { requestsMax: Number.POSITIVE_INFINITY, tokensPerMinute: Number.POSITIVE_INFINITY }
const NO_LIMITS: InferenceOptions = {
  keyLimits: UNLIMITED,
  projectLimits: UNLIMITED,
  projectHeaders: ['openai-project'],
  traceCompletions: false,
}

/** The base model of servers under test. */
export const TEST_BASE_MODEL = 'test/base'

/** The whole app, opened; disposal stops its work and closes its stores. */
export interface TestApp extends AsyncDisposable {
  app: ReturnType<typeof buildApp>
  routes: Route[]
  stores: Stores
  accounts: App['accounts']
  upkeep: App['upkeep']
  metricFamilies: App['metricFamilies']
}

/** Opens the whole app over the real stores of a data folder, or over those elsewhere. */
export async function openTestApp(folder: string, options: TestAppOptions = {}): Promise<TestApp> {
  await using opening = new AsyncDisposableStack()
  const log = createLog({ logLevel: 'error', logFormat: 'json' })
  const engineFolder = join(folder, 'engine')
  const telemetry = options.telemetry ?? NO_TELEMETRY
  const storeOptions = { ...options.stores, telemetry }
  const stores = opening.use(await openStores({ data: folder, workspace: engineFolder }, log, storeOptions))
  const compute = opening.use((options.compute ?? noCompute)(folder))
  const defaults = { requireSampledContext: false }
  const engine = { compute, baseModel: TEST_BASE_MODEL, defaults }
  const whole = createApp(stores, {
    ...(options.now !== undefined && { now: options.now }),
    auth: options.auth ?? 'local',
    singleSignOn: options.singleSignOn,
    identityHosts: options.identityHosts ?? [],
    publicAddress: options.publicAddress ?? ((reached) => reached),
    version: VERSION,
    log,
    engine,
    inference: { ...NO_LIMITS, ...options.inference },
    providers: options.providers ?? new Map(),
    scorerPython: options.scorerPython,
    remoteScorers: {
      hosts: options.remoteScorers?.hosts ?? [],
      secrets: readScorerSecrets({
        HEDDLE_SCORER_SECRETS: JSON.stringify(options.remoteScorers?.secrets ?? {}),
      }),
    },
    dataFolder: folder,
    engineFolder,
    recentCallsBytes: options.recentCallsBytes ?? 0,
    role: options.role ?? 'all',
    stopping: new AbortController().signal,
    unexpected: NO_UNEXPECTED_ERRORS,
    telemetry,
  })
  opening.use(await whole.start())
  const app = buildApp(whole.routes, { ...whole, log, version: VERSION, telemetry })
  const opened = opening.move()
  return { ...whole, app, stores, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

function noCompute(): Compute {
  return unavailableCompute('The engine is not installed; "npm run setup" installs it', { loraRankMax: 16 })
}
