import { z } from 'zod'
import { variableSettings } from './read-setting.ts'
import { settingProblem } from './setting-problems.ts'

/** Whether other servers use the same stores, and what this one does. */
export interface ServersSetting {
  servers: 'one' | 'several'
  /** `api` answers requests and runs no jobs; `worker` runs jobs, and answers only those who watch it. */
  role: 'all' | 'api' | 'worker'
  /** Seconds after a stop signal during which requests are still answered, while health says that it stops. */
  drainSeconds: number
}

/** Load balancers notice within seconds; a process that ends an hour later was forgotten. */
const DRAIN_SECONDS_MAX = 3600

const Variables = z.object({
  HEDDLE_SERVERS: z.enum(['one', 'several']).default('one'),
  HEDDLE_ROLE: z.enum(['all', 'api', 'worker']).default('all'),
  HEDDLE_DRAIN_SECONDS: z.coerce.number().min(0).max(DRAIN_SECONDS_MAX).default(0),
})

/** Several servers share all stores, and the key with which they hash and seal. */
const SHARED = [
  ['HEDDLE_CLICKHOUSE_URL'],
  ['HEDDLE_POSTGRES_URL'],
  ['HEDDLE_S3_URL'],
  ['HEDDLE_SECRET_KEY', 'HEDDLE_SECRET_KEY_FILE'],
] as const

/** @throws Error that names what is missing or contradicts */
export function readServersSetting(env: NodeJS.ProcessEnv): ServersSetting {
  const values = variableSettings(Variables, env)
  const { HEDDLE_SERVERS: servers, HEDDLE_ROLE: role, HEDDLE_DRAIN_SECONDS: drainSeconds } = values
  if (servers === 'one') {
    if (role !== 'all')
      throw settingProblem('HEDDLE_ROLE', 'needs HEDDLE_SERVERS=several: one server does all')
    if (env['HEDDLE_REDIS_URL'] !== undefined)
      throw settingProblem('HEDDLE_REDIS_URL', 'needs HEDDLE_SERVERS=several: one server sends no messages')
    return { servers, role, drainSeconds }
  }
  const missing = SHARED.filter((names) => names.every((name) => env[name] === undefined))
  if (missing.length > 0)
    throw settingProblem('HEDDLE_SERVERS', ...missing.map((names) => `several needs ${names.join(' or ')}`))
  if (Number(env['HEDDLE_RECENT_CALLS_MB'] ?? 0) > 0)
    throw settingProblem(
      'HEDDLE_RECENT_CALLS_MB',
      'is for one server: others would write calls that its memory lacks',
    )
  return { servers, role, drainSeconds }
}
