import type { Projects } from '../../accounts/projects.ts'
import type { Contents } from '../../contents/service.ts'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Log } from '../../log.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import { toPage } from '../../wire/page-wire.ts'
import { parseLine } from '../metrics/json-lines.ts'
import { createMetrics, type Metrics, type PointRow } from '../metrics/service.ts'
import type { SignedUrls } from '../signed-urls.ts'
import { createRunAlerts, type RunAlerts } from './alerts.ts'
import { configValues } from './client-record.ts'
import { createFileStream, type FileStream } from './file-stream.ts'
import { createRunFiles, type RunFiles } from './files.ts'
import { createFindRuns, type FindRuns } from './find-runs.ts'
import {
  deleteRun,
  findRun,
  findRunById,
  type ListedRun,
  listAlerts,
  listRunsBriefly,
  listUsers,
  type RunName,
  type RunRow,
  updateRun,
} from './queries.ts'
import { releaseFiles } from './release-files.ts'
import { createRewinding, type Rewinding } from './rewind.ts'
import { metricsKeyOf, stateOf, tagsOf } from './run-row.ts'
import { createRunWriter, type RunWriter } from './run-writer.ts'
import type { MetricsQuery, MetricsRes, RunPath, RunRes, RunsListQuery, RunsListRes } from './wire.ts'

/** Alerts of one reply, the newest. */
const ALERTS_SHOWN_MAX = 100

export interface RunsDeps {
  control: ControlDb
  traces: TraceDb
  contents: Contents
  projects: Projects
  signedUrls: SignedUrls
  log: Log
}

/** Runs: metrics, files and alerts that a program logs. */
export interface Runs extends RunWriter, FileStream, RunFiles, RunAlerts, Rewinding, FindRuns {
  metrics: Metrics
  /** Asks the client of a run to end it; the client learns of it with its next request. @throws 404. */
  requestStop(id: string): Promise<void>
  /** Runs that used a version of an artifact. @throws 413 for too much text. */
  usersOf(artifactId: string, limit: number): Promise<RunRow[]>
  find(name: RunName): Promise<RunRow | undefined>
  byId(id: string): Promise<RunRow | undefined>
  /** Lists the runs of a project, newest first. */
  list(req: RunsListQuery, context: CallContext): Promise<RunsListRes>
  get(req: RunPath): Promise<RunRes>
  /** Points of the requested keys, or of all keys. */
  points(req: MetricsQuery & RunPath): Promise<MetricsRes>
  /** Deletes a run with its files and metrics; resolves with whether it existed. Artifacts that it logged stay. */
  delete(name: RunName): Promise<boolean>
  /** @throws 404. */
  deleteById(id: string): Promise<void>
}

export function createRuns(deps: RunsDeps): Runs {
  const { control } = deps
  const metrics = createMetrics(deps)
  const alerts = createRunAlerts({ control })

  async function existing({ entity, project, run }: RunPath): Promise<RunRow> {
    const row = await findRun(control, { entity, project, run })
    if (row === undefined) throw notFound('run', `${entity}/${project}/${run}`)
    return row
  }

  async function removeRow(row: RunRow): Promise<void> {
    // What the row names goes first: where this fails, the run is there to be deleted again.
    await releaseFiles(deps, row.id)
    await metrics.delete(metricsKeyOf(row))
    await control.transaction().execute((tx) => deleteRun(tx, row.id))
  }

  async function requestStop(id: string): Promise<void> {
    const row = await findRunById(control, id)
    if (row === undefined) throw notFound('run', id)
    await updateRun(control, id, { stop_requested_at: nowIso() })
  }

  async function list(req: RunsListQuery, { caller }: CallContext) {
    const of = { entity: req.entity ?? caller.defaultEntity, project: req.project }
    const rows = await listRunsBriefly(control, of, { after: req.after, limit: req.limit + 1 })
    return toPage(rows.map(shownBriefly), req.limit)
  }

  async function get(req: RunPath) {
    const row = await existing(req)
    const alerts = await listAlerts(control, row.id, ALERTS_SHOWN_MAX)
    const written = { config: configOf(row.config), summary: parseLine(row.summary) ?? {} }
    return { ...shown(row), ...written, alerts: alerts.map(({ run_id: _, ...alert }) => alert) }
  }

  async function points(req: MetricsQuery & RunPath) {
    const key = metricsKeyOf(await existing(req))
    const keys = [...req.keys, ...req.key]
    if (keys.length === 0) {
      const all = await metrics.keys(key, req.stream)
      return { keys: all.filter(({ numeric }) => numeric === 1).map((entry) => entry.key), data: [] }
    }
    const { stream, after_step: afterStep, limit, samples } = req
    const rows = await (samples === undefined
      ? metrics.points(key, { stream, keys, afterStep, limit: limit + 1 })
      : metrics.thinned(key, { stream, keys, afterStep, samples }))
    const byKey = Map.groupBy(rows, (point) => point.key)
    const pointsMax = samples ?? limit
    const data = keys.map((name) => ({ key: name, ...curveOf(byKey.get(name) ?? [], pointsMax) }))
    return { keys: [], data }
  }

  async function remove(name: RunName): Promise<boolean> {
    const row = await findRun(control, name)
    if (row !== undefined) await removeRow(row)
    return row !== undefined
  }

  async function deleteById(id: string): Promise<void> {
    const row = await findRunById(control, id)
    if (row === undefined) throw notFound('run', id)
    await removeRow(row)
  }

  return {
    metrics,
    ...createRunWriter(deps),
    ...createFileStream({ ...deps, metrics, alerts }),
    ...createRunFiles(deps),
    ...alerts,
    ...createRewinding({ control, metrics }),
    ...createFindRuns({ control }),
    requestStop,
    usersOf: (artifactId, limit) => listUsers(control, artifactId, limit),
    find: (name) => findRun(control, name),
    byId: (id) => findRunById(control, id),
    list,
    get,
    points,
    delete: remove,
    deleteById,
  }
}

function shownBriefly(row: ListedRun) {
  return {
    ...shown(row),
    ...(row.config !== null && { config: configOf(row.config) }),
    ...(row.summary !== null && { summary: parseLine(row.summary) ?? {} }),
  }
}

function curveOf(found: readonly PointRow[], pointsMax: number) {
  const points = found.slice(0, pointsMax).map(({ step, value, time }) => ({ step, value, time }))
  return { points, has_more: (found[0]?.total ?? found.length) > points.length }
}

function shown(row: Omit<ListedRun, 'config' | 'summary'>) {
  return {
    id: row.id,
    entity: row.entity,
    project: row.project,
    run: row.name,
    display_name: row.display_name,
    state: stateOf(row),
    job_type: row.job_type,
    group: row.group_name,
    tags: tagsOf(row),
    notes: row.notes,
    last_step: row.last_step,
    exit_code: row.exit_code,
    created_at: row.created_at,
    heartbeat_at: row.heartbeat_at,
    ended_at: row.ended_at,
    created_by: row.created_by,
  }
}

/** Wire: clients write each value of a config as `{value}`, and their own records under `_wandb`. */
/** What a client has configured, without what it records about itself. */
function configOf(text: string): Record<string, unknown> {
  const { _wandb: _, ...values } = configValues(text)
  return values
}
