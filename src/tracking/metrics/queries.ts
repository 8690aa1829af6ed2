import type { Query } from '../../stores/trace-db/port.ts'
import type { Stream } from './rows.ts'

/** The run and kind of metrics. */
export interface RunKey {
  project_id: string
  /** The run's own id, which no later run of the same name has. */
  run_id: string
}

/** All values of one step. */
export interface StepRow {
  step: number
  time: string
  /** Key, number, text. */
  items: [string, number | null, string | null][]
}

export interface PointRow {
  key: string
  step: number
  value: number | null
  time: string
  /** Of thinned points: how many the key has. */
  total?: number
}

/** Points of these keys after a step. */
export interface PointsWanted {
  stream: Stream
  keys: readonly string[]
  afterStep: number
}

const OF_RUN = `project_id = {project_id:String} AND run_id = {run_id:String}`
const OF_STREAM = `${OF_RUN} AND stream = {stream:String}`

/** A number, including those that JSON does not have. */
const IS_NUMBER = `(value IS NOT NULL OR json IN ('NaN', 'Infinity', '-Infinity'))`

export interface StepsWanted {
  stream: Stream
  /** Steps from here up to, and without, `stepBefore`. */
  stepFrom: number
  stepBefore: number
  limit: number
  order: 'ASC' | 'DESC'
}

/** Whole steps, in order. */
export function selectSteps(run: RunKey, wanted: StepsWanted): Query {
  const { order, ...params } = wanted
  return {
    sql: `SELECT step, max(time) AS time, groupArray((key, value, json)) AS items FROM run_metrics FINAL
      WHERE ${OF_STREAM} AND step >= {stepFrom:Int64} AND step < {stepBefore:Int64}
      GROUP BY step ORDER BY step ${order} LIMIT {limit:UInt64}`,
    params: { ...run, ...params },
  }
}

/** Which steps to spread samples over, and what of them. */
export interface SampleWanted {
  stream: Stream
  keys: readonly string[]
  /** Steps from here up to, and without, `stepBefore`. */
  stepFrom: number
  stepBefore: number
  samples: number
}

/**
 * Steps spread evenly over those that have all of the keys, each of which is named once; without keys, over all steps.
 */
export function selectSample(run: RunKey, wanted: SampleWanted): Query {
  const isAny = wanted.keys.length === 0
  const ofKeys = isAny ? '' : 'AND key IN {keys:Array(String)}'
  const withAll = isAny ? '' : 'HAVING uniqExact(key) = length({keys:Array(String)})'
  const ofSteps = `${OF_STREAM} AND step >= {stepFrom:Int64} AND step < {stepBefore:Int64} ${ofKeys}`
  return {
    sql: `WITH steps AS (SELECT step FROM run_metrics WHERE ${ofSteps}
          GROUP BY step ${withAll}),
        numbered AS (SELECT step, row_number() OVER (ORDER BY step) - 1 AS place FROM steps),
        chosen AS (SELECT step FROM numbered
          WHERE place % greatest(1, intDiv((SELECT count() FROM steps) + {samples:UInt64} - 1, {samples:UInt64})) = 0)
      SELECT step, max(time) AS time, groupArray((key, value, json)) AS items FROM run_metrics FINAL
      WHERE ${ofSteps} AND step IN (SELECT step FROM chosen)
      GROUP BY step ORDER BY step`,
    params: { ...run, ...wanted },
  }
}

/** The lowest step; no row where there is none. */
export function selectFirstStep(run: RunKey): Query {
  return {
    sql: `SELECT min(step) AS step FROM run_metrics WHERE ${OF_RUN} AND stream = 'history' HAVING count() > 0`,
    params: { ...run },
  }
}

/** How many steps the history has. */
export function countSteps(run: RunKey): Query {
  return {
    sql: `SELECT uniqExact(step) AS count FROM run_metrics WHERE ${OF_RUN} AND stream = 'history'`,
    params: { ...run },
  }
}

/** Every key with its number of steps, and whether its values are numbers. */
export function selectKeys(run: RunKey, wanted: { stream: Stream; limit: number }): Query {
  return {
    sql: `SELECT key, count() AS count, countIf(${IS_NUMBER}) > 0 AS numeric FROM run_metrics FINAL
      WHERE ${OF_STREAM} GROUP BY key ORDER BY key LIMIT {limit:UInt64}`,
    params: { ...run, ...wanted },
  }
}

const OF_POINTS = `run_metrics FINAL
  WHERE ${OF_STREAM} AND key IN {keys:Array(String)} AND step > {afterStep:Int64} AND ${IS_NUMBER}`

/** The first points of each key after a step. */
export function selectPoints(run: RunKey, wanted: PointsWanted & { limit: number }): Query {
  return {
    sql: `SELECT key, step, value, time FROM ${OF_POINTS}
      ORDER BY key, step LIMIT {limit:UInt64} BY key`,
    params: { ...run, ...wanted },
  }
}

/** A point of each stretch is the first, the lowest, the highest or the last of it. */
const POINTS_PER_STRETCH = 4

/**
 * All points of keys that have few, and of the others those that a line drawn through all of them would reach in each
 * of equal stretches of steps (M4: Jugel et al., VLDB 2014). What is no finite number is neither low nor high.
 */
export function selectThinned(run: RunKey, wanted: PointsWanted & { samples: number }): Query {
  const stretches = Math.floor(wanted.samples / POINTS_PER_STRETCH)
  return {
    sql: `WITH sizes AS (SELECT key, min(step) AS first_step, max(step) AS last_step, count() AS total
        FROM ${OF_POINTS} GROUP BY key)
      SELECT key, point.1 AS step, point.2 AS value, point.3 AS time, of_key AS total FROM (
        SELECT key, any(total) AS of_key, arrayDistinct([argMin(point, step), argMin(point, ifNull(value, inf)),
          argMax(point, ifNull(value, -inf)), argMax(point, step)]) AS points
        FROM (SELECT key, step, value, (step, value, time) AS point FROM ${OF_POINTS}) AS rows
        INNER JOIN sizes USING (key)
        GROUP BY key, if(total <= {samples:UInt64}, step,
          toInt64(floor((step - first_step) / (last_step - first_step + 1) * {stretches:UInt64}))))
      ARRAY JOIN points AS point ORDER BY key, step`,
    params: { ...run, ...wanted, stretches },
  }
}

export function selectLogLines(
  run: RunKey,
  wanted: { lineFrom: number; lineBefore: number; limit: number },
): Query {
  return {
    sql: `SELECT line, text FROM run_log_lines FINAL
      WHERE ${OF_RUN} AND line >= {lineFrom:UInt64} AND line < {lineBefore:UInt64}
      ORDER BY line LIMIT {limit:UInt64}`,
    params: { ...run, ...wanted },
  }
}

/** All but the history up to and with a step. */
export function deleteAfter(run: RunKey, step: number): Query {
  return {
    sql: `DELETE FROM run_metrics WHERE ${OF_RUN} AND (stream != 'history' OR step > {step:Int64})`,
    params: { ...run, step },
  }
}

export function deleteOf(table: 'run_metrics' | 'run_log_lines', run: RunKey): Query {
  return { sql: `DELETE FROM ${table} WHERE ${OF_RUN}`, params: { ...run } }
}
