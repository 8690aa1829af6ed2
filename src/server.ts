import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { readConfig, setThreads } from './config.ts'
import { messageOf } from './errors.ts'
import { createLog } from './log.ts'
import { openStores } from './open-stores.ts'
import { openTelemetry } from './open-telemetry.ts'
import { createPublicAddress } from './settings/public-address.ts'
import { STOP_SIGNALS } from './stop-signals.ts'
import { watchUnexpectedErrors } from './unexpected-errors.ts'

/** After a signal: requests drain and stores close within this, or the process ends hard. */
const STOP_MS = 10_000

// libuv starts its threads with the first work for them, which is not before this line.
setThreads()

// Without this, V8 marks its whole heap for every 64 MiB of buffers that pass through, a fifth of the cost of a long
// list.
setFlagsFromString('--external-memory-accounted-in-global-limit')

/** Most modules are of the app: they are loaded while the trace database starts. */
const loadApp = (): Promise<typeof import('./configured-app.ts')> => import('./configured-app.ts')

async function main(): Promise<void> {
  const config = readConfig()
  const log = createLog(config)
  const stopping = new AbortController()
  using unexpected = watchUnexpectedErrors(log)

  await using telemetry = await openTelemetry(config.collector, log)
  const folders = { data: config.dataFolder, workspace: config.engine.folder }
  await using stores = await openStores(folders, log, {
    ...config,
    telemetry,
    onLaunched: () => void loadApp(),
  })
  const { createConfiguredApp, listenConfigured, openConfiguredCompute } = await loadApp()
  await using compute = openConfiguredCompute(config, log, telemetry)
  const parts = { stores, compute, log, telemetry, stopping: stopping.signal, unexpected }
  const app = createConfiguredApp(config, parts)
  await using _work = await app.start()
  await using _reports = telemetry.reportMetrics(app.metricFamilies)
  await using server = await listenConfigured(app, config, parts)
  // Until here a signal ends the process at once: a start may wait for minutes, and survives that.
  const stopped = stopSignal()
  stores.announce(server.url, server.certificate)
  log.info({ url: server.url, data: config.dataFolder }, 'Heddle is listening')
  if (config.auth === 'local' && (await app.accounts.sessions.areInUse()))
    log.warn(
      'Users sign in to these stores with keys, and HEDDLE_AUTH=local accepts any: HEDDLE_AUTH=keys asks for them',
    )
  const signIn = config.auth === 'keys' ? await app.accounts.sessions.firstSignIn() : undefined
  if (signIn !== undefined)
    process.stdout.write(
      `\nSign in as the first operator, once and within two days:\n  ${createPublicAddress(config)(server.url)}${signIn}\n\n`,
    )

  const reason = await Promise.race([stopped, unexpected.storm])
  if (reason === 'storm') process.exitCode = 1
  log.info({ signal: reason }, 'stopping')
  stopping.abort(new Error('The server is stopping'))
  if (reason !== 'storm') await delay(config.drainSeconds * 1000)
  setTimeout(() => process.exit(1), STOP_MS).unref()
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // Ctrl-C comes from the terminal and again from npm; after the first, a signal changes nothing.
    for (const name of STOP_SIGNALS) process.on(name, resolve)
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
})
