import type { Config } from './config.ts'
import { createConfiguredApp, listenConfigured } from './configured-app.ts'
import { messagesOf, StoreFailed } from './errors.ts'
import type { Log } from './log.ts'
import { openBlobs } from './open-blobs.ts'
import { openControlDb } from './open-control-db.ts'
import { openStores, placesOf, type Stores } from './open-stores.ts'
import { openTraceDb } from './open-trace-db.ts'
import type { Blobs } from './stores/blobs/port.ts'
import type { ControlDb } from './stores/control-db/port.ts'
import { requireSqlite } from './stores/control-db/sqlite.ts'
import { openDataFolder } from './stores/data-folder.ts'
import { hasNoBlobs, moveBlobs } from './stores/move/blobs.ts'
import { hasNoControlRows, moveControlRows } from './stores/move/control-rows.ts'
import { type MovedStore, type MoveOptions, MoveRefused } from './stores/move/move-options.ts'
import { noCompute, readOnly } from './stores/move/read-only.ts'
import { beginMove, finishMoves, forgetMoves, isBegun, type StoreMove } from './stores/move/records.ts'
import { moveSecretKey } from './stores/move/secret-key.ts'
import { hasNoTraceRows, moveTraceRows } from './stores/move/trace-rows.ts'
import type { SecretKey } from './stores/secret-key.ts'
import type { TraceDb } from './stores/trace-db/port.ts'
import { NO_TELEMETRY } from './telemetry.ts'
import { NO_UNEXPECTED_ERRORS } from './unexpected-errors.ts'

/** What was moved; stores that stay where they are have no amounts. */
export interface Moved {
  moves: readonly StoreMove[]
  /** Rows by table. */
  traceRows: Readonly<Record<string, number>> | undefined
  controlRows: Readonly<Record<string, number>> | undefined
  /** By table of the control database: texts in which U+0000, which it does not store, has become U+FFFD. */
  replacedTexts: Readonly<Record<string, number>>
  blobs: { count: number; bytes: number } | undefined
}

/** The settings of a server, before and after. */
export interface MoveBetween {
  source: Config
  target: Config
}

/** The stores to fill; undefined for those that stay where they are. */
interface Target {
  traces: TraceDb | undefined
  control: ControlDb | undefined
  blobs: Blobs | undefined
}

/**
 * Moves the data of a server to other stores, and serves what reads it meanwhile. The server itself must not run. An
 * interrupted move goes on when it is called again.
 * @param onServing called with the address where reads are served
 * @throws Error where the target has other data or does not have the server's key; MoveRefused for data that it does
 * not take, or that differs after it was copied
 */
export async function move(
  { source, target }: MoveBetween,
  log: Log,
  options: MoveOptions & { onServing(url: string): void },
): Promise<Moved> {
  const moves = movesBetween({ source, target })
  if (moves.length === 0) throw new Error('All stores are where they are to be moved to')
  requireSource(source)
  await using opened = new AsyncDisposableStack()
  const folders = { data: source.dataFolder, workspace: source.engine.folder }
  const from = opened.use(await openStores(folders, log, { ...source, servers: 'one', use: 'move' }))
  const reads = opened.use(await serveReads(from, source, log))
  options.onServing(reads.url)
  if (target.dataFolder !== source.dataFolder) opened.use(openDataFolder(target.dataFolder, 'move'))
  const key = await moveSecretKey(source, target)
  const to = await openTarget(moves, { ...target, key }, log, opened)
  const records = to.control ?? from.control
  await requireRoomFor(moves, to, records)
  for (const one of moves) await beginMove(records, one)
  try {
    return await copyAll(moves, { from, to, records }, options)
  } catch (error) {
    if (error instanceof MoveRefused) throw error
    // Its reason says what to do, and what failed by it does not.
    options.signal.throwIfAborted()
    const messages = messagesOf(error)
    // Others may come each time.
    const isOutage = error instanceof StoreFailed
    throw new Error(isOutage ? `${messages} (the same command goes on where this one ended)` : messages, {
      cause: error,
    })
  }
}

async function copyAll(
  moves: readonly StoreMove[],
  { from, to, records }: { from: Stores; to: Target; records: ControlDb },
  options: MoveOptions,
): Promise<Moved> {
  const blobs = to.blobs && (await moveBlobs(from.blobs, to.blobs, options))
  const traceRows = to.traces && (await moveTraceRows(from.traces, to.traces, options))
  const control = to.control && (await moveControlRows(from.control, to.control, options))
  for (const one of new Set([records, from.control])) await finishMoves(one, moves)
  return {
    moves,
    traceRows: traceRows && Object.fromEntries(traceRows),
    controlRows: control && Object.fromEntries(control.rows),
    replacedTexts: Object.fromEntries(control?.replacedTexts ?? []),
    blobs,
  }
}

/** Makes a server use its stores where they are, though they were moved. @returns the moves that were forgotten */
export async function forgetMovesOf(config: Config, log: Log): Promise<number> {
  requireSource(config)
  using _held = openDataFolder(config.dataFolder, 'move')
  await using opened = await openControlDb({ ...config, servers: 'one' }, log, () => undefined)
  return await forgetMoves(opened.control)
}

/** One whose control data is elsewhere may have an empty folder. */
function requireSource({ dataFolder, postgres }: Config): void {
  if (postgres === undefined) requireSqlite(dataFolder)
}

/** The stores whose places differ. */
function movesBetween({ source, target }: MoveBetween): StoreMove[] {
  const [from, to] = [placesOf(source), placesOf(target)]
  return (['trace_db', 'control_db', 'blobs'] as const)
    .map((store) => ({ store, from: from[store], to: to[store] }))
    .filter((one) => one.from !== one.to)
}

async function serveReads(stores: Stores, config: Config, log: Log) {
  const parts = { stores: readOnly(stores), compute: noCompute(config.engine), log, telemetry: NO_TELEMETRY }
  const app = createConfiguredApp(
    // A list of recent calls is of those that this process writes.
    { ...config, recentCallsBytes: 0 },
    { ...parts, stopping: new AbortController().signal, unexpected: NO_UNEXPECTED_ERRORS },
  )
  return listenConfigured(app, config, parts)
}

async function openTarget(
  moves: readonly StoreMove[],
  target: Config & { key: SecretKey },
  log: Log,
  opened: AsyncDisposableStack,
): Promise<Target> {
  const isMoved = (store: MovedStore) => moves.some((one) => one.store === store)
  return {
    traces: isMoved('trace_db') ? opened.use(await openTraceDb(target, log)) : undefined,
    control: isMoved('control_db')
      ? opened.use(await openControlDb({ ...target, servers: 'one' }, log, () => undefined)).control
      : undefined,
    blobs: isMoved('blobs') ? opened.use(await openBlobs(target, target.key, log)) : undefined,
  }
}

/** @throws Error for a target with data that is not of this move */
async function requireRoomFor(
  moves: readonly StoreMove[],
  { traces, control, blobs }: Target,
  records: ControlDb,
): Promise<void> {
  const isEmpty: Record<MovedStore, () => Promise<boolean>> = {
    trace_db: async () => traces === undefined || hasNoTraceRows(traces),
    control_db: async () => control === undefined || hasNoControlRows(control),
    blobs: async () => blobs === undefined || hasNoBlobs(blobs),
  }
  for (const one of moves)
    if (!(await isBegun(records, one)) && !(await isEmpty[one.store]()))
      throw new Error(`${one.to} has data already: name an empty place`)
}
