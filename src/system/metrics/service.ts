import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { BlobSweep, SweepCounts } from '../../blob-sweep.ts'
import type { RawReply } from '../../http/route.ts'
import type { HitTotal } from '../../redaction/hit-counts.ts'
import type { Redaction } from '../../redaction/service.ts'
import type { BrokenPart } from '../../stores/trace-db/broken-parts.ts'
import type { CountedTraceDb, WriteCounts } from '../../stores/trace-db/counted.ts'
import type { TableRepairs } from '../../stores/trace-db/port.ts'
import type { MetricFamily } from '../../telemetry.ts'
import type { Jobs } from '../../training/jobs/service.ts'
import type { UnexpectedErrors } from '../../unexpected-errors.ts'
import { eventLoopMetrics, watchEventLoop } from './event-loop.ts'
import { familiesOf } from './families.ts'

/** How often the library looks at the event loop: its own 10 ms would cost an idle server half a percent of a core. */
const EVENT_LOOP_LOOKS_MS = 1000

/** Seconds: from a read of one row to a completion of some thousand tokens. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60]

const COUNTED = ['accepted', 'applied', 'rejected'] as const satisfies (keyof WriteCounts)[]

/**
 * What Prometheus reads. Labels are operations, statuses, tables and states, of which there are few, and never a value
 * chosen by a caller.
 */
export interface Metrics {
  /** Counts one answered request. */
  observe(operation: string, status: number, seconds: number): void
  /** Concurrent scrapes share one reading, so that all its numbers are of one moment. */
  text(): Promise<RawReply>
  /** The same numbers, for a collector. */
  families(): Promise<MetricFamily[]>
}

export function createMetrics(deps: {
  traces: CountedTraceDb
  brokenParts: readonly BrokenPart[]
  jobs: Pick<Jobs, 'countStates'>
  unexpected: UnexpectedErrors
  blobSweep: Pick<BlobSweep, 'counts'>
  redaction: Pick<Redaction, 'totals'>
}): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: EVENT_LOOP_LOOKS_MS,
    eventLoopUtilizationTimeout: EVENT_LOOP_LOOKS_MS,
  })
  const eventLoop = eventLoopMetrics(registry, watchEventLoop())
  const durations = new Histogram({
    name: 'heddle_http_request_duration_seconds',
    help: 'Requests by operation and class of status, until the status line; a stream goes on after that',
    labelNames: ['operation', 'status'],
    buckets: DURATION_BUCKETS,
    registers,
  })
  const writes = writeMetrics(registers)
  const jobs = new Gauge({
    name: 'heddle_training_jobs',
    help: 'Training jobs by state',
    labelNames: ['state'],
    registers,
  })
  const repairs = repairMetrics(registers)
  const unexpected = new Counter({
    name: 'heddle_unexpected_errors_total',
    help: 'Errors that no code has caught, each of which is a bug and in the log',
    registers,
  })
  const orphans = orphanMetrics(registers)
  const redactions = redactionMetrics(registers)
  countBrokenParts(deps.brokenParts, registers)
  let running: Promise<string> | undefined

  async function refresh(): Promise<void> {
    const states = await deps.jobs.countStates()
    jobs.reset()
    for (const { state, count } of states) jobs.set({ state }, count)
    writes.show(deps.traces.writes())
    eventLoop.show()
    repairs.show(deps.traces.repairs())
    orphans.show(deps.blobSweep.counts())
    redactions.show(deps.redaction.totals())
    unexpected.reset()
    unexpected.inc(deps.unexpected.count())
  }

  async function read(): Promise<string> {
    await refresh()
    return registry.metrics()
  }

  async function families(): Promise<MetricFamily[]> {
    await refresh()
    return familiesOf(await registry.getMetricsAsJSON())
  }

  function observe(operation: string, status: number, seconds: number): void {
    durations.observe({ operation, status: `${Math.floor(status / 100)}xx` }, seconds)
  }

  async function text(): Promise<RawReply> {
    running ??= read().finally(() => {
      running = undefined
    })
    return { headers: { 'content-type': registry.contentType }, body: await running }
  }

  return { observe, text, families }
}

/** Parts of the trace database that could not be read at the start; the number does not grow until the next one. */
function countBrokenParts(parts: readonly BrokenPart[], registers: Registry[]): void {
  const broken = new Gauge({
    name: 'heddle_trace_parts_broken',
    help: 'Parts of the trace database that could not be read, so that their rows are missing, as the log says',
    labelNames: ['table'],
    registers,
  })
  for (const { table } of parts) broken.inc({ table })
}

/** Tables of the trace database that a failing disk broke. */
function repairMetrics(registers: Registry[]) {
  const repairs = new Counter({
    name: 'heddle_table_repairs_total',
    help: 'Attempts to repair a table of the trace database after a lost write, by result',
    labelNames: ['result'],
    registers,
  })
  const detached = new Gauge({
    name: 'heddle_tables_detached',
    help: 'Tables of the trace database that are closed until they can be repaired',
    registers,
  })

  return {
    show({ done, failed, detached: tables }: TableRepairs): void {
      repairs.reset()
      repairs.inc({ result: 'done' }, done)
      repairs.inc({ result: 'failed' }, failed)
      detached.set(tables.length)
    },
  }
}

/** Blobs that a crash left without an owner. */
function orphanMetrics(registers: Registry[]) {
  const deleted = new Counter({
    name: 'heddle_orphan_blobs_deleted_total',
    help: 'Blobs that no row owned, such as a crash leaves them, and that were deleted',
    registers,
  })
  const failed = new Counter({
    name: 'heddle_orphan_blob_looks_failed_total',
    help: 'Looks for blobs without an owner that failed, as the log says',
    registers,
  })

  return {
    show(counts: Readonly<SweepCounts>): void {
      deleted.reset()
      deleted.inc(counts.deleted)
      failed.reset()
      failed.inc(counts.failed)
    },
  }
}

/** What rules have redacted; the counts of each rule of a project are at its own endpoint. */
function redactionMetrics(registers: Registry[]) {
  const hits = new Counter({
    name: 'heddle_redaction_hits_total',
    help: 'What redaction rules have found, by what they look for and what they do with it',
    labelNames: ['match', 'action'],
    registers,
  })

  return {
    show(totals: readonly HitTotal[]): void {
      hits.reset()
      for (const { match, action, hits: found } of totals) hits.inc({ match, action }, found)
    },
  }
}

/** Rows of the trace database by table. The counts are kept where rows are written; here they are only shown. */
function writeMetrics(registers: Registry[]) {
  const labelNames = ['table']
  const counters = COUNTED.map((name) => ({
    name,
    counter: new Counter({
      name: `heddle_writes_${name}_total`,
      help: `Rows for the trace database: ${name}`,
      labelNames,
      registers,
    }),
  }))
  const pending = new Gauge({
    name: 'heddle_writes_pending',
    help: 'Rows for the trace database that wait for the disk',
    labelNames,
    registers,
  })

  return {
    show(tables: ReadonlyMap<string, Readonly<WriteCounts>>): void {
      for (const { counter } of counters) counter.reset()
      for (const [table, counts] of tables) {
        for (const { name, counter } of counters) counter.inc({ table }, counts[name])
        pending.set({ table }, counts.accepted - counts.applied - counts.rejected)
      }
    },
  }
}
