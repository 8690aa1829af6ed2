import { createProjects } from './accounts/projects.ts'
import type { AuthMode } from './accounts/sessions/me.ts'
import { type Accounts, createAccounts } from './areas/accounts.ts'
import type { Area } from './areas/area.ts'
import { createCurationArea } from './areas/curation.ts'
import { createEvaluationArea } from './areas/evaluation.ts'
import { createInferenceArea, type InferenceOptions } from './areas/inference.ts'
import { createRetentionArea, type RetentionArea } from './areas/retention.ts'
import { createSystemArea } from './areas/system.ts'
import { createTraceArea } from './areas/trace.ts'
import { createTrackingArea } from './areas/tracking.ts'
import { createTrainingArea, type EngineOptions } from './areas/training.ts'
import { createBlobSweep } from './blob-sweep.ts'
import { createContents } from './contents/service.ts'
import type { ScorerPython } from './evaluation/scorers/scorer-processes.ts'
import { type Authorize, createAuthorize, type Owners } from './http/access.ts'
import type { Authenticator } from './http/auth.ts'
import type { CallerLimits } from './http/caller-limits.ts'
import type { Route } from './http/route.ts'
import { createJobQueue } from './jobs/job-queue.ts'
import type { Log } from './log.ts'
import type { Stores } from './open-stores.ts'
import { createRedaction } from './redaction/service.ts'
import { createRetentionSettings } from './retention/settings/service.ts'
import type { Providers } from './settings/providers.ts'
import type { PublicAddress } from './settings/public-address.ts'
import type { RemoteScorerOptions } from './settings/scorer-secrets.ts'
import type { ServersSetting } from './settings/servers-setting.ts'
import type { SingleSignOn } from './settings/single-sign-on.ts'
import { createSharedUse } from './shared-use.ts'
import { countWrites } from './stores/trace-db/counted.ts'
import { createMutations } from './stores/trace-db/mutations.ts'
import { withQuerySpans } from './stores/trace-db/query-spans.ts'
import type { Metrics } from './system/metrics/service.ts'
import type { Telemetry } from './telemetry.ts'
import type { UnexpectedErrors } from './unexpected-errors.ts'

export interface AppOptions {
  /** Whether any key is accepted, or those of users. */
  auth: AuthMode
  /** The provider through which people may sign in. */
  singleSignOn: SingleSignOn | undefined
  /** Hosts of issuers of identity tokens that need not be public. */
  identityHosts: readonly string[]
  publicAddress: PublicAddress
  version: string
  log: Log
  engine: EngineOptions
  inference: InferenceOptions
  providers: Providers
  /** The Python that runs scorers which are code; they are refused without one. */
  scorerPython: ScorerPython | undefined
  remoteScorers: RemoteScorerOptions
  dataFolder: string
  /** The workspace folder, in the data folder or elsewhere. */
  engineFolder: string
  /** Memory for recent calls, in bytes; 0 keeps none. */
  recentCallsBytes: number
  /** The clock of budgets; that of the machine where absent. */
  now?: () => Date
  /** What this server does of the work of all. */
  role: ServersSetting['role']
  /** Aborted once the server is to stop: it is reported as not ready. */
  stopping: AbortSignal
  /** Uncaught errors of the process. */
  unexpected: UnexpectedErrors
  /** Records what requests and jobs do. */
  telemetry: Telemetry
}

/** The server without its HTTP. */
export interface App {
  /** The whole API; of a worker, what tells its state. */
  routes: Route[]
  authenticator: Authenticator
  authorize: Authorize
  limits: CallerLimits
  /** Makes the first operator, and signs people in. */
  accounts: Pick<Accounts, 'identity' | 'sessions'>
  /** Removes what is too old or was deleted; it does so by itself from time to time. */
  upkeep: Pick<RetentionArea['upkeep'], 'run'>
  /** Counts one answered request. */
  observe: Metrics['observe']
  /** What is counted, for a collector. */
  metricFamilies: Metrics['families']
  /** Starts the work besides requests, which disposal ends. */
  start(): Promise<AsyncDisposable>
}

/** Composes the areas over opened stores. */
export function createApp(opened: Stores, options: AppOptions): App {
  const { log, telemetry } = options
  const stores = { ...opened, traces: countWrites(withQuerySpans(opened.traces, telemetry)) }
  const projects = createProjects(stores)
  const contents = createContents(stores)
  const sharedUse = createSharedUse(stores.peers)
  const accounts = createAccounts({ ...options, ...stores, projects, sharedUse })
  const { audit, principals, workLimits } = accounts
  const redaction = createRedaction({ ...stores, projects, audit, log })
  const mutations = createMutations(stores.traces)
  const settings = createRetentionSettings({ ...stores, audit })
  const jobQueue = createJobQueue({ ...stores, log, telemetry })
  const work = { jobQueue, workLimits, principals }

  const shared = { ...options, ...stores, projects, mutations, redaction }
  const trace = createTraceArea({ ...shared, jobQueue, retention: settings })
  const tracking = createTrackingArea({ ...stores, contents, projects, mutations, log })
  const training = createTrainingArea({ ...work, ...shared, stores, contents, trace, tracking })
  const inference = createInferenceArea({
    ...options,
    ...stores,
    mutations,
    outboundHosts: options.remoteScorers.hosts,
    options: options.inference,
    accounts,
    sharedUse,
    projects,
    now: options.now ?? (() => new Date()),
    trace,
    training,
  })
  const evaluation = createEvaluationArea({ ...options, ...stores, ...work, projects, trace, inference })
  const curation = createCurationArea({ ...stores, trace, training })
  const owners: Owners = { ...tracking.owners, ...training.owners }
  const authorize = createAuthorize(owners, projects.closed)
  const accountsArea = accounts.area({
    graphqlParts: tracking.graphqlParts,
    authorize,
    storedBy: [trace, tracking, training].flatMap(({ storedBy }) => storedBy ?? []),
  })
  const blobOwners = [contents.blobOwner, ...trace.blobOwners, ...training.blobOwners]
  const blobSweep = createBlobSweep({ ...stores, log, owners: blobOwners })
  const system = createSystemArea({ ...options, stores, projects, blobSweep, redaction, training })

  const areas: Area[] = [trace, tracking, training, inference, evaluation, curation, accountsArea, system]
  const removals = [...areas.flatMap((area) => area.removals ?? []), ...accounts.removals]
  const retention = createRetentionArea({
    ...options,
    ...stores,
    mutations,
    jobQueue,
    projects,
    settings,
    accounts,
    removals,
  })
  areas.push(retention)
  return {
    routes: options.role === 'worker' ? system.routes : areas.flatMap((area) => area.routes),
    authenticator: accounts.authenticator,
    authorize,
    limits: accounts.callerLimits,
    accounts,
    upkeep: retention.upkeep,
    observe: system.metrics.observe,
    metricFamilies: system.metrics.families,

    async start() {
      await using starting = new AsyncDisposableStack()
      starting.use(sharedUse)
      starting.use(redaction.start())
      for (const area of areas) if (area.start !== undefined) starting.use(await area.start())
      if (options.role !== 'api') {
        starting.use(blobSweep.start())
        starting.use(await jobQueue.start())
      }
      return starting.move()
    },
  }
}
