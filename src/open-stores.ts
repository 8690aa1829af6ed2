import { join } from 'node:path'
import { messagesOf } from './errors.ts'
import type { Log } from './log.ts'
import { type BlobsPlace, openBlobs, placeOfBlobs } from './open-blobs.ts'
import {
  type ControlDbPlace,
  openControlDb,
  placeOfControlDb,
  warnOfUnusedControlDb,
} from './open-control-db.ts'
import { openTraceDb, placeOfTraceDb, type TraceDbPlace, warnOfUnusedTraceDb } from './open-trace-db.ts'
import { openWorkspace, placeOfWorkspace, type WorkspacePlace } from './open-workspace.ts'
import { createLiveSnapshots, type LiveSnapshots, removeSnapshots } from './stores/backup/live-snapshots.ts'
import { refuseSnapshots, storesElsewhere } from './stores/backup/no-snapshots.ts'
import type { Blobs } from './stores/blobs/port.ts'
import type { Peers } from './stores/control-db/peers.ts'
import type { ControlDb, ControlDbWatch } from './stores/control-db/port.ts'
import { type DataFolderUse, openDataFolder, openingOf } from './stores/data-folder.ts'
import { lacksRoom } from './stores/disk-errors.ts'
import { checkPlaces, type Places } from './stores/move/records.ts'
import type { RedisOptions } from './stores/redis/address.ts'
import type { RedisUse } from './stores/redis/redis-peers.ts'
import { openSecretKey, type SecretKey } from './stores/secret-key.ts'
import { type BrokenPart, findBrokenParts } from './stores/trace-db/broken-parts.ts'
import type { TraceDb } from './stores/trace-db/port.ts'
import type { Workspace } from './stores/workspace/port.ts'
import { createWriteFailures, type WriteFailures } from './stores/write-failures.ts'

/** The stores that services use; disposal closes everything in reverse. */
export interface Stores extends AsyncDisposable {
  traces: TraceDb
  control: ControlDb
  controlWatch: ControlDbWatch
  /** The other servers of these stores. */
  peers: Peers
  /** Removes earlier versions of rows of the control database from the disk. */
  dropControlLog: () => void
  blobs: Blobs
  /** The folders that engines read and write. */
  workspace: Workspace
  /** Hashes and seals secrets at rest. */
  secretKey: SecretKey
  /** The last failed writes. */
  writeFailures: WriteFailures
  /** Parts of the trace database that could not be read when it was opened. */
  brokenParts: readonly BrokenPart[]
  /** Why data can be read alone; undefined where it can be changed. */
  readOnly: string | undefined
  /** Takes states of all stores for backups. */
  snapshots: LiveSnapshots
  /** Tells other processes of this machine where the server is reached, and which certificate it shows there. */
  announce(url: string, certificate?: string): void
}

/** Where the stores of this machine are. */
export interface StoreFolders {
  /** The root of all durable data. */
  data: string
  /** The root of the workspace, in the data folder or elsewhere. */
  workspace: string
}

export interface StoreOptions
  extends Omit<TraceDbPlace & ControlDbPlace & BlobsPlace & WorkspacePlace, 'dataFolder' | 'folder'> {
  /** Where messages to other servers go through it. */
  redis?: RedisOptions | undefined
  /** The key of the server; by default one in the data folder. */
  secretKey?: string | undefined
  /** What the data folder is held for; by default for a server. */
  use?: DataFolderUse | undefined
}

/**
 * Opens and migrates the stores: the embedded ones, and those elsewhere that the options name.
 * @throws Error when another process holds it, or with the store that cannot be opened, where it is, and why.
 */
export async function openStores(
  folders: StoreFolders,
  log: Log,
  {
    sqlAccess,
    onLaunched,
    clickhouse,
    postgres,
    redis,
    s3,
    servers,
    telemetry,
    workspaceBucket,
    secretKey: givenKey,
    use = 'server',
  }: StoreOptions = {},
): Promise<Stores> {
  const { data: dataFolder } = folders
  await using opening = new AsyncDisposableStack()
  const writeFailures = createWriteFailures()
  const held = opening.use(openDataFolder(dataFolder, use))
  // A move reads from a folder what is then elsewhere.
  if (use === 'server') warnOfFolder({ dataFolder, clickhouse, postgres }, log)
  await removeSnapshots(dataFolder)
  const at = (name: string): string => join(dataFolder, name)
  const tracePlace = { dataFolder, clickhouse, sqlAccess, onLaunched }
  const traces = await named('trace database', placeOfTraceDb(tracePlace), async () =>
    opening.use(await openTraceDb(tracePlace, log)),
  )
  const controlPlace = { dataFolder, postgres, servers, telemetry }
  const noteControlWrite = (error: unknown): void => writeFailures.note('control_db', error)
  const {
    control,
    watch: controlWatch,
    peers: byPostgres,
    dropLog,
  } = await named('control database', placeOfControlDb(controlPlace), async () =>
    opening.use(await openControlDb(controlPlace, log, noteControlWrite)),
  )
  await checkPlaces(control, placesOf({ dataFolder, clickhouse, postgres, s3 }))
  const secretKey = await named('secret key', at('secret.key'), () => openSecretKey(dataFolder, givenKey))
  const peers =
    redis === undefined || !byPostgres.arePossible
      ? byPostgres
      : opening.use(await throughRedis(redis, { base: byPostgres, secretKey, log }))
  const blobs = await named('file store', placeOfBlobs({ dataFolder, s3 }), async () =>
    opening.use(await openBlobs({ dataFolder, s3 }, secretKey, log)),
  )
  const workspacePlace = { folder: folders.workspace, workspaceBucket, s3 }
  const workspace = await named('workspace', placeOfWorkspace(workspacePlace), () =>
    openWorkspace(workspacePlace, blobs, log),
  )
  opening.defer(async () => workspace[Symbol.asyncDispose]?.())
  // Replicas of a cluster replace such parts themselves.
  const brokenParts = clickhouse?.cluster === undefined ? await findBrokenParts(traces, log) : []
  const opened = opening.move()
  return {
    traces: {
      ...traces,
      insert: (...rows) => writeFailures.watched('trace_db', () => traces.insert(...rows)),
      command: (query) => writeFailures.watched('trace_db', () => traces.command(query)),
    },
    control,
    controlWatch,
    peers,
    dropControlLog: dropLog,
    blobs: { ...blobs, put: (...blob) => writeFailures.watched('blobs', () => blobs.put(...blob)) },
    workspace,
    secretKey,
    writeFailures,
    brokenParts,
    readOnly: undefined,
    snapshots:
      'freeze' in traces && 'keepInto' in blobs && postgres === undefined
        ? createLiveSnapshots({ dataFolder, traces, blobs, log })
        : refuseSnapshots(storesElsewhere({ clickhouse, postgres, s3 })),
    announce: held.announce,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Warns of what is in the data folder and not used, and of those who may use the folder. */
function warnOfFolder(place: TraceDbPlace & ControlDbPlace, log: Pick<Log, 'warn'>): void {
  const openingToOthers = openingOf(place.dataFolder)
  if (openingToOthers !== undefined)
    log.warn({ fix: openingToOthers.fix }, `the data folder ${openingToOthers.detail}`)
  warnOfUnusedTraceDb(place, log)
  warnOfUnusedControlDb(place, log)
}

/** A server without it need not wait until the driver is loaded. */
async function throughRedis(redis: RedisOptions, use: RedisUse): Promise<Peers & AsyncDisposable> {
  const { openRedisPeers } = await import('./stores/redis/redis-peers.ts')
  return openRedisPeers(redis, use)
}

/** Where the stores are that options name. */
export function placesOf(places: TraceDbPlace & ControlDbPlace & BlobsPlace): Places {
  return {
    trace_db: placeOfTraceDb(places),
    control_db: placeOfControlDb(places),
    blobs: placeOfBlobs(places),
  }
}

async function named<Store>(store: string, path: string, open: () => Promise<Store>): Promise<Store> {
  try {
    return await open()
  } catch (error) {
    const causes = messagesOf(error)
    const why = (await lacksRoom(path))
      ? `The disk of the data folder is full: free some space and start again (${causes})`
      : causes
    throw new Error(`The ${store} ${path} cannot be opened: ${why}`, { cause: error })
  }
}
