import { createApp } from './app.ts'
import type { Route } from './http/route.ts'
import type { Stores } from './open-stores.ts'
import { NO_TELEMETRY } from './telemetry.ts'
import { NO_UNEXPECTED_ERRORS } from './unexpected-errors.ts'
import { VERSION } from './version.ts'

const NO_LIMITS = { requestsMax: Number.POSITIVE_INFINITY, tokensPerMinute: Number.POSITIVE_INFINITY }

/** The whole API, to be described and not called: what it stands on does nothing. */
export function routesWithoutStores(): Route[] {
  const stores: Stores = {
    traces: nothing(),
    control: nothing(),
    controlWatch: nothing(),
    peers: nothing(),
    dropControlLog: nothing(),
    blobs: nothing(),
    workspace: nothing(),
    secretKey: nothing(),
    writeFailures: nothing(),
    brokenParts: [],
    readOnly: undefined,
    snapshots: nothing(),
    announce: nothing(),
    async [Symbol.asyncDispose]() {},
  }
  const app = createApp(stores, {
    auth: 'keys',
    singleSignOn: undefined,
    identityHosts: [],
    publicAddress: (reached) => reached,
    version: VERSION,
    log: nothing(),
    engine: { compute: nothing(), baseModel: '', defaults: { requireSampledContext: false } },
    inference: {
      keyLimits: NO_LIMITS,
      projectLimits: NO_LIMITS,
      projectHeaders: [],
      traceCompletions: false,
    },
    providers: new Map(),
    scorerPython: undefined,
    remoteScorers: { hosts: [], secrets: nothing() },
    dataFolder: '',
    engineFolder: '',
    recentCallsBytes: 0,
    role: 'all',
    stopping: new AbortController().signal,
    unexpected: NO_UNEXPECTED_ERRORS,
    telemetry: NO_TELEMETRY,
  })
  return app.routes
}

/** Has every member, and each of them does nothing. */
function nothing<Dependency>(): Dependency {
  const anything: unknown = new Proxy(() => anything, { get: () => anything })
  // It stands for an interface that is never used, only passed on.
  return anything as Dependency
}
