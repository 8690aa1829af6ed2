import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { createApp } from './app.ts'
import { readConfig, setThreads } from './config.ts'
import { messageOf } from './errors.ts'
import { buildApp } from './http/build-app.ts'
import { listen } from './http/listen.ts'
import { createLog } from './log.ts'
import { openStores } from './open-stores.ts'
import { createPythonFinder, openLocalCompute } from './stores/compute/local.ts'
import { openRayCompute } from './stores/compute/ray/ray-compute.ts'
import { watchUnexpectedErrors } from './unexpected-errors.ts'
import { VERSION } from './version.ts'
import { createWebPages } from './web/pages.ts'

/** Where the build of the web UI lies. */
const WEB_FOLDER = fileURLToPath(new URL('../web/dist', import.meta.url))

/** After a signal: requests drain and stores close within this, or the process ends hard. */
const STOP_MS = 10_000

// libuv starts its threads with the first work for them, which is not before this line.
setThreads()

// Without this, V8 marks its whole heap for every 64 MiB of buffers that pass through, a fifth of the cost of a long
// list.
setFlagsFromString('--external-memory-accounted-in-global-limit')

async function main(): Promise<void> {
  const config = readConfig()
  const log = createLog(config)
  const stopped = stopSignal()
  const stopping = new AbortController()
  using unexpected = watchUnexpectedErrors(log)

  const folders = { data: config.dataFolder, workspace: config.engine.folder }
  await using stores = await openStores(folders, log, config)
  const { ray } = config
  await using compute =
    ray === undefined ? openLocalCompute(config, log) : openRayCompute({ ...config, ray }, log)
  const { baseModel, folder, requireSampledContext } = config.engine
  const engine = { compute, baseModel, defaults: { requireSampledContext } }
  const app = createApp(stores, {
    auth: config.auth,
    singleSignOn: config.singleSignOn,
    identityHosts: config.identityHosts,
    version: VERSION,
    log,
    engine,
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
    stopping: stopping.signal,
    unexpected,
  })
  await using _work = await app.start()
  const http = buildApp(app.routes, {
    authenticator: app.authenticator,
    authorize: app.authorize,
    limits: app.limits,
    log,
    version: VERSION,
    observe: app.observe,
    web: config.role === 'worker' ? undefined : createWebPages(WEB_FOLDER),
    hosts: config.hosts,
  })
  await using server = await listen(http, config)
  stores.announce(server.url)
  log.info({ url: server.url, data: config.dataFolder }, 'Heddle is listening')
  const signIn = config.auth === 'keys' ? await app.accounts.sessions.firstSignIn() : undefined
  if (signIn !== undefined)
    process.stdout.write(
      `\nSign in as the first operator, once and within two days:\n  ${reachable(server.url, config.hosts)}${signIn}\n\n`,
    )

  const reason = await Promise.race([stopped, unexpected.storm])
  if (reason === 'storm') process.exitCode = 1
  log.info({ signal: reason }, 'stopping')
  stopping.abort(new Error('The server is stopping'))
  if (reason !== 'storm') await delay(config.drainSeconds * 1000)
  setTimeout(() => process.exit(1), STOP_MS).unref()
}

/** An address that a browser can open, where the server listens on all addresses of the machine. */
function reachable(url: string, [name = 'localhost']: readonly string[]): string {
  return url.replace(/\/\/(0\.0\.0\.0|\[::\])/, `//${name}`)
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // Ctrl-C comes from the terminal and again from npm; after the first, a signal changes nothing.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, resolve)
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
})
