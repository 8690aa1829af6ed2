import { isAbsolute } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ClientError, conflict, dependencyFailed, invalidRequest, messageOf } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Log } from '../../log.ts'
import type { Stores } from '../../open-stores.ts'
import { type BackupProgress, checkTarget, writeBackup } from '../../stores/backup/write-backup.ts'
import type { BackupReq, BackupRes } from './wire.ts'

/** Progress is reported this often. */
const REPORT_EVERY_MS = 500

/** Backups of the running server. */
export interface Backups {
  /**
   * Writes a backup and reports its progress, as lines of JSON; one at a time. It ends with the client that waits for
   * it.
   * @throws 400 and 409 for a path that cannot be written to, 409 while another backup is being written
   */
  write(req: BackupReq, context: Pick<CallContext, 'signal'>): Promise<AsyncIterable<Uint8Array>>
}

export interface BackupsDeps {
  dataFolder: string
  version: string
  stores: Pick<Stores, 'snapshots' | 'brokenParts'>
  log: Pick<Log, 'info' | 'error'>
}

export function createBackups({ dataFolder, version, stores, log }: BackupsDeps): Backups {
  let isWriting = false

  async function* progressOf(target: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    if (isWriting) throw conflict('Another backup is being written')
    isWriting = true
    const stopping = new AbortController()
    let latest: BackupRes = { state: 'preparing', files: 0 }
    let isBegun = false
    async function work(): Promise<BackupRes> {
      const ending = AbortSignal.any([signal, stopping.signal])
      const onKept = (files: number): void => {
        latest = { state: 'preparing', files }
      }
      await using snapshot = await stores.snapshots.take(onKept, ending)
      const held_ms = snapshot.heldMs
      const onProgress = ({ files, bytes, bytesTotal }: BackupProgress): void => {
        latest = { state: 'copying', held_ms, files, bytes, bytes_total: bytesTotal }
      }
      const written = await writeBackup(snapshot, { target, version }, onProgress, ending)
      const { path, takenAt, files, bytes } = written
      log.info({ path, files, bytes, held_ms }, 'a backup was written')
      const broken_parts = stores.brokenParts.length
      return { state: 'done', path, taken_at: takenAt, held_ms, files, bytes, broken_parts }
    }
    const working = work()
    try {
      // A client and the proxies before it wait a minute or some for the first line, and for each further one.
      while ((await Promise.race([working, delay(REPORT_EVERY_MS)])) === undefined) {
        isBegun = true
        yield lineOf(latest)
      }
      yield lineOf(await working)
    } catch (error) {
      if (error instanceof ClientError && error.status < 500)
        log.info({ path: target, reason: error.message }, 'a backup was refused')
      else log.error({ err: error, path: target }, 'a backup could not be written')
      // Before the first line, it is still an error reply.
      if (!isBegun) throw error instanceof ClientError ? error : failedBy(error)
      yield lineOf({ state: 'failed', error: messageOf(error) })
    } finally {
      stopping.abort()
      await working.catch(() => undefined)
      isWriting = false
    }
  }

  return {
    async write({ path }, { signal }) {
      if (!isAbsolute(path)) throw invalidRequest(`${path} is not an absolute path`, 'path')
      return progressOf(await checkTarget(path, dataFolder), signal)
    },
  }
}

/** 503: the disk of the data folder, or that of the backup, failed. */
function failedBy(error: unknown): ClientError {
  return dependencyFailed(`No backup could be written: ${messageOf(error)}`, error)
}

function lineOf(progress: BackupRes): Uint8Array {
  return Buffer.from(`${JSON.stringify(progress)}\n`)
}
