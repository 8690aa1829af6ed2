import { fileURLToPath } from 'node:url'
import { type App, createApp } from './app.ts'
import type { Config } from './config.ts'
import { messageOf } from './errors.ts'
import { buildApp } from './http/build-app.ts'
import { type Listening, listen } from './http/listen.ts'
import type { Log } from './log.ts'
import type { Stores } from './open-stores.ts'
import { createPublicAddress } from './settings/public-address.ts'
import { settingProblem } from './settings/setting-problems.ts'
import { createPythonFinder, openLocalCompute } from './stores/compute/local.ts'
import type { Compute } from './stores/compute/port.ts'
import { openRayCompute } from './stores/compute/ray/ray-compute.ts'
import type { Telemetry } from './telemetry.ts'
import type { UnexpectedErrors } from './unexpected-errors.ts'
import { VERSION } from './version.ts'
import { createWebPages } from './web/pages.ts'

/** Where the build of the web UI lies. */
const WEB_FOLDER = fileURLToPath(new URL('../web/dist', import.meta.url))

/** What an app stands on besides its settings. */
export interface AppParts {
  stores: Stores
  compute: Compute
  log: Log
  telemetry: Telemetry
  /** Aborted once the server is to stop. */
  stopping: AbortSignal
  unexpected: UnexpectedErrors
}

/** What runs engines, on this machine or on Ray, as the settings say. */
export function openConfiguredCompute(config: Config, log: Log, telemetry: Telemetry): Compute {
  const { ray } = config
  return ray === undefined
    ? openLocalCompute(config, log, telemetry)
    : openRayCompute({ ...config, ray }, log, telemetry)
}

/** Composes the app as the settings of a server say. */
export function createConfiguredApp(config: Config, { stores, compute, ...parts }: AppParts): App {
  const { baseModel, folder, requireSampledContext } = config.engine
  return createApp(stores, {
    ...parts,
    auth: config.auth,
    singleSignOn: config.singleSignOn,
    identityHosts: config.identityHosts,
    publicAddress: createPublicAddress(config),
    version: VERSION,
    engine: { compute, baseModel, defaults: { requireSampledContext } },
    inference: config,
    providers: config.providers,
    scorerPython:
      config.scorerCode === 'refuse'
        ? undefined
        : {
            find: createPythonFinder(config),
            confinement: config.scorerCode === 'run' ? 'required' : 'none',
          },
    remoteScorers: config.remoteScorers,
    dataFolder: config.dataFolder,
    engineFolder: folder,
    recentCallsBytes: config.recentCallsBytes,
    role: config.role,
  })
}

/** Serves an app where the settings say. @throws Error that names the settings of an address that cannot be had */
export async function listenConfigured(
  app: App,
  config: Config,
  { log, telemetry }: Pick<AppParts, 'log' | 'telemetry'>,
): Promise<Listening> {
  const http = buildApp(app.routes, {
    authenticator: app.authenticator,
    authorize: app.authorize,
    limits: app.limits,
    log,
    telemetry,
    version: VERSION,
    observe: app.observe,
    web: config.role === 'worker' ? undefined : createWebPages(WEB_FOLDER),
    hosts: config.hosts,
  })
  try {
    return await listen(http, config)
  } catch (error) {
    throw settingProblem('HEDDLE_HOST and HEDDLE_PORT', messageOf(error))
  }
}
