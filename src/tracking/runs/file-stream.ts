import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Log } from '../../log.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { parseLine } from '../metrics/json-lines.ts'
import type { Metrics } from '../metrics/service.ts'
import { OBJECT_CHARS_MAX } from '../object-text.ts'
import type { RunAlerts } from './alerts.ts'
import { findRun, findRunById, type RunName, type RunRow, updateRun } from './queries.ts'
import { metricsKeyOf } from './run-row.ts'
import { refuseShared } from './shared-mode.ts'
import type { FileChunk, FileStreamReq, FileStreamRes } from './wire.ts'

/** Receives the messages of a running client: metrics, summary, output, and the end of the run. */
export interface FileStream {
  /** Wire: clients send one request after the other and repeat one until it succeeds. @throws 400, 404. */
  receive(req: FileStreamReq, context: Pick<CallContext, 'header'>): Promise<FileStreamRes>
  /** Adds rows after those that a run has logged. @throws 404. */
  append(name: RunName, rows: readonly Record<string, number>[]): Promise<void>
}

export interface FileStreamDeps {
  control: ControlDb
  metrics: Metrics
  alerts: Pick<RunAlerts, 'alert'>
  log: Log
}

export function createFileStream({ control, metrics, alerts, log }: FileStreamDeps): FileStream {
  /**
   * Writes lines of metrics. Lines that cannot be parsed are reported as an alert of the run, since the reply to the
   * client is 200.
   */
  async function writeMetrics(
    row: RunRow,
    file: string,
    lines: Parameters<Metrics['write']>[1],
  ): Promise<number> {
    const { highestStep, unread } = await metrics.write(metricsKeyOf(row), lines)
    if (unread !== undefined) {
      const { entity, project, name: run } = row
      log.warn({ run: `${entity}/${project}/${run}`, file, ...unread }, 'lines of a run are no JSON objects')
      const text = `${unread.count} lines are no JSON objects and were not kept, the first of them line ${unread.first}`
      await alerts.alert(row, { title: `Lines of ${file} were not kept`, text, severity: 'WARN' })
    }
    return highestStep
  }

  /** Counts from a chunk; a repeated or late chunk adds nothing. */
  async function writeChunk(row: RunRow, file: string, chunk: FileChunk): Promise<Partial<RunRow>> {
    const lines = { ...chunk, fallbackTime: row.created_at }
    const end = chunk.offset + chunk.content.length
    switch (file) {
      case 'wandb-history.jsonl':
        return {
          last_step: await writeMetrics(row, file, { ...lines, stream: 'history' }),
          history_lines: end,
        }
      case 'wandb-events.jsonl':
        await writeMetrics(row, file, { ...lines, stream: 'system' })
        return { system_lines: end }
      case 'output.log':
        await metrics.writeLog(metricsKeyOf(row), lines)
        return { log_lines: end }
      case 'wandb-summary.json':
        return { summary: chunk.content.join('') }
      default:
        return {}
    }
  }

  async function receive(req: FileStreamReq, context: Pick<CallContext, 'header'>) {
    refuseShared(context)
    return keep(req)
  }

  async function keep(req: FileStreamReq): Promise<FileStreamRes> {
    const { entity, project, run } = req
    const row = await findRun(control, { entity, project, run })
    if (row === undefined) throw notFound('run', `${entity}/${project}/${run}`)
    const brought: Partial<RunRow> = {}
    for (const [file, chunk] of Object.entries(req.files ?? {})) {
      Object.assign(brought, await writeChunk(row, file, chunk))
    }
    await control.transaction().execute((tx) => record(tx, row.id, brought, req))
    // Wire: this tells a client that its run is to stop.
    return row.stop_requested_at === null ? {} : { stopped: true }
  }

  async function append(name: RunName, rows: readonly Record<string, number>[]): Promise<void> {
    const row = await findRun(control, name)
    if (row === undefined) throw notFound('run', `${name.entity}/${name.project}/${name.run}`)
    const _timestamp = Date.now() / 1000
    const content = rows.map((values, index) =>
      JSON.stringify({ ...values, _step: row.last_step + 1 + index, _timestamp }),
    )
    const chunk = { offset: row.history_lines, content }
    await keep({ ...name, files: { 'wandb-history.jsonl': chunk } })
  }

  return { receive, append }
}

/** Records a chunk: counts only grow, and no summary replaces a newer one. */
async function record(
  tx: ControlTx,
  id: string,
  brought: Partial<RunRow>,
  { complete, exitcode, preempting }: FileStreamReq,
): Promise<void> {
  const row = await findRunById(tx, id)
  if (row === undefined) return
  const now = nowIso()
  const ended = complete === true || exitcode != null
  await updateRun(tx, id, {
    heartbeat_at: now,
    last_step: Math.max(row.last_step, brought.last_step ?? -1),
    history_lines: Math.max(row.history_lines, brought.history_lines ?? 0),
    system_lines: Math.max(row.system_lines, brought.system_lines ?? 0),
    log_lines: Math.max(row.log_lines, brought.log_lines ?? 0),
    ...(brought.summary !== undefined &&
      replaces(brought.summary, row.summary) && { summary: brought.summary }),
    ...(preempting === true && { state: 'preempting' }),
    ...(ended && {
      state: (exitcode ?? 0) === 0 ? 'finished' : 'failed',
      exit_code: exitcode ?? 0,
      ended_at: now,
    }),
  })
}

/**
 * Whether a summary is not older than the present one. One that comes late has both an earlier step and an earlier
 * time; a time alone may be any that a program logs, and steps begin anew with a run that is logged again.
 */
function replaces(summary: string, present: string): boolean {
  const next = summary.length > OBJECT_CHARS_MAX ? undefined : parseLine(summary)
  if (next === undefined) return false
  const before = parseLine(present)
  const isEarlier = (key: string): boolean => Number(next[key]) < Number(before?.[key])
  const hasStep = '_step' in next && before !== undefined && '_step' in before
  return !(isEarlier('_timestamp') && (!hasStep || isEarlier('_step')))
}
