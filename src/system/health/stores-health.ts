import type { z } from 'zod'
import { ClientError } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'
import type { Stores } from '../../open-stores.ts'
import { type Blobs, PROBE_PREFIX } from '../../stores/blobs/port.ts'
import type { Compute } from '../../stores/compute/port.ts'
import { type ControlDb, pingControlDb } from '../../stores/control-db/port.ts'
import { isDiskFull } from '../../stores/disk-errors.ts'
import type { BrokenPart } from '../../stores/trace-db/broken-parts.ts'
import type { CountedTraceDb } from '../../stores/trace-db/counted.ts'
import { pingTraceDb } from '../../stores/trace-db/port.ts'
import type { StoreName } from '../../stores/write-failures.ts'
import type { UnexpectedErrors } from '../../unexpected-errors.ts'
import type { HealthRes } from './wire.ts'

/** Longer than a healthy store takes under load, shorter than the timeouts of health probes. */
const ANSWER_MS_MAX = 2_000

/** A store that answered this recently is not probed again, so frequent health requests cost nothing. */
const FRESH_MS = 5_000

/** Rewriting the same bytes is as much work for a disk as writing new ones. */
const PROBE_BLOB = { key: `${PROBE_PREFIX}probe`, bytes: Buffer.from('written') }

export interface StoresHealthDeps {
  stores: { traces: CountedTraceDb; control: ControlDb; blobs: Blobs } & Pick<
    Stores,
    'controlWatch' | 'writeFailures' | 'brokenParts' | 'readOnly'
  >
  compute: Pick<Compute, 'statuses'>
  unexpected: UnexpectedErrors
  /** Aborted once the server is to stop. */
  stopping: AbortSignal
}

type Check = z.output<typeof HealthRes>['stores']['trace_db']

/** Whether every store has answered recently; one that has not is probed, with a time limit. */
export function createStoresHealth({
  stores,
  compute,
  unexpected,
  stopping,
}: StoresHealthDeps): () => Promise<RawReply> {
  const { traces, control, controlWatch, blobs, writeFailures, brokenParts, readOnly } = stores
  const unreadable = brokenParts.length === 0 ? undefined : unreadableText(brokenParts)
  const traceDb = createCheck(() => pingTraceDb(traces), traces.lastAnswerAt)
  const controlDb = createCheck(async () => {
    controlWatch.check()
    await pingControlDb(control)
  })
  const blobStore = createCheck(() =>
    readOnly === undefined ? probeBlobs(blobs) : blobs.stat(PROBE_BLOB.key),
  )

  return async () => {
    const [answers, control_db, blob_store] = await Promise.all([traceDb(), controlDb(), blobStore()])
    const trace_db = answers.ok ? tablesOf(traces) : answers
    const warned = (check: Check, store: StoreName, ...others: (string | undefined)[]): Check => {
      const reason = writeFailures.of(store)
      const warnings = [reason && `the last write failed: ${reason}`, ...others].filter(Boolean)
      return warnings.length === 0 ? check : { ...check, warning: warnings.join('; ') }
    }
    const checks = {
      trace_db: warned(trace_db, 'trace_db', unreadable),
      control_db: warned(control_db, 'control_db', ...controlWatch.warnings()),
      blobs: warned(blob_store, 'blobs'),
    }
    const failed = Object.entries(checks).filter(([, check]) => !check.ok)
    const reasons = failed.map(([name, { error }]) => `${name}: ${error}`)
    const warnings = Object.entries(checks).flatMap(([name, { ok, warning }]) =>
      ok && warning ? [`${name}: ${warning}`] : [],
    )
    if (stopping.aborted) reasons.unshift('the server is stopping: send requests to another one')
    const isFailing = failed.length > 0 || stopping.aborted
    reasons.push(...warnings, ...(readOnly === undefined ? [] : [readOnly]))
    if (unexpected.isRecent())
      reasons.push(`${unexpected.count()} unexpected errors since the start, see the log`)
    const isDegraded = unexpected.isRecent() || warnings.length > 0 || readOnly !== undefined
    const body: z.input<typeof HealthRes> = {
      status: isFailing ? 'failing' : isDegraded ? 'degraded' : 'ok',
      ...(reasons.length > 0 && { reason: reasons.join('; ') }),
      stores: checks,
      // Health needs no key, so it does not name models.
      engine: compute
        .statuses()
        .map(({ name, base_model, state }) => ({ name: name.replace(` ${base_model}`, ''), state })),
    }
    return {
      status: isFailing ? 503 : 200,
      headers: { 'content-type': 'application/json', ...(isFailing && { 'retry-after': '5' }) },
      body: JSON.stringify(body),
    }
  }
}

/** A full disk fails no check: what is stored can be read, and the failed write is a warning. */
async function probeBlobs(blobs: Blobs): Promise<void> {
  try {
    await blobs.put(PROBE_BLOB.key, PROBE_BLOB.bytes)
  } catch (error) {
    if (!isDiskFull(error)) throw error
    await blobs.stat(PROBE_BLOB.key)
  }
}

/**
 * The number of parts that cannot be read, and their tables; their paths are only in the log, since health needs no
 * key.
 */
function unreadableText(parts: readonly BrokenPart[]): string {
  const tables = [...new Set(parts.map(({ table }) => table))].join(', ')
  return `${parts.length} parts could not be read, so rows are missing from ${tables}: see the log of the start`
}

/** A closed table can be neither read nor written, even when the database answers for others. */
function tablesOf(traces: CountedTraceDb): Check {
  const { detached } = traces.repairs()
  if (detached.length === 0) return { ok: true, error: null }
  return { ok: false, error: `closed until they can be repaired: ${detached.join(', ')}` }
}

/** Probes unless there was a recent answer; concurrent requests share one probe. */
function createCheck(
  ask: () => Promise<unknown>,
  answeredAt = () => Number.NEGATIVE_INFINITY,
): () => Promise<Check> {
  let ownAnswerAt = Number.NEGATIVE_INFINITY
  let asking: Promise<unknown> | undefined

  function isFresh(): boolean {
    return performance.now() - Math.max(ownAnswerAt, answeredAt()) < FRESH_MS
  }

  return async () => {
    if (isFresh()) return { ok: true, error: null }
    asking ??= ask()
      .then(() => {
        ownAnswerAt = performance.now()
      })
      .finally(() => {
        asking = undefined
      })
    try {
      await withinTime(asking)
      return { ok: true, error: null }
    } catch (error) {
      // A store that is busy answering others is healthy.
      if (isFresh()) return { ok: true, error: null }
      // Other errors may contain internals, and health needs no key.
      return { ok: false, error: error instanceof ClientError ? error.message : 'failed' }
    }
  }
}

async function withinTime(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const message = `no answer within ${ANSWER_MS_MAX / 1000} s`
  const timer = setTimeout(
    () => late.reject(new ClientError(503, 'ServiceUnavailableError', message)),
    ANSWER_MS_MAX,
  )
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
