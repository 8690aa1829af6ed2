import { z } from 'zod'
import { messageOf } from './errors.ts'
import { settingProblem, textSetting } from './json-setting.ts'
import { type Address, type ElsewhereOptions, readAddress } from './stores/trace-db/elsewhere/address.ts'

/** Stores that others operate; undefined for those that are in the data folder. */
export interface StoresElsewhere {
  /** The server that the trace database is on. */
  clickhouse: ElsewhereOptions | undefined
}

const Variables = z.object({
  HEDDLE_CLICKHOUSE_URL: z.string().optional(),
  HEDDLE_CLICKHOUSE_CA: z.string().optional(),
  HEDDLE_CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[\w.-]+$/, { error: 'letters, digits, _, - and .' })
    .optional(),
  HEDDLE_CLICKHOUSE_COMPRESSION: z.stringbool().optional(),
  HEDDLE_SQL_PORT: z.string().optional(),
})

type Values = z.output<typeof Variables>

/** Settings that would be ignored without another one. */
const OF: Partial<Record<keyof Values, readonly (keyof Values)[]>> = {
  HEDDLE_CLICKHOUSE_URL: [
    'HEDDLE_CLICKHOUSE_CA',
    'HEDDLE_CLICKHOUSE_CLUSTER',
    'HEDDLE_CLICKHOUSE_COMPRESSION',
  ],
}

/** Reads which stores are elsewhere. @throws Error that names a bad variable, without what it holds */
export function readStoresElsewhere(env: NodeJS.ProcessEnv): StoresElsewhere {
  const parsed = Variables.safeParse(env)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw settingProblem(issue?.path.join('.') ?? '', issue?.message ?? '')
  }
  const values = parsed.data
  for (const [needed, names] of Object.entries(OF))
    for (const name of names)
      if (values[name] !== undefined && env[needed] === undefined)
        throw settingProblem(name, `needs ${needed}`)
  return { clickhouse: clickhouseOf(values) }
}

function clickhouseOf(values: Values): ElsewhereOptions | undefined {
  const { HEDDLE_CLICKHOUSE_URL: url, HEDDLE_CLICKHOUSE_CA: ca } = values
  if (url === undefined) return undefined
  if (values.HEDDLE_SQL_PORT !== undefined)
    throw settingProblem(
      'HEDDLE_SQL_PORT',
      'is of the embedded database: ask the server of HEDDLE_CLICKHOUSE_URL itself',
    )
  addressOf(url)
  return {
    url,
    ca: ca === undefined ? undefined : textSetting('HEDDLE_CLICKHOUSE_CA', ca, { charsMin: 1 }),
    cluster: values.HEDDLE_CLICKHOUSE_CLUSTER,
    isCompressed: values.HEDDLE_CLICKHOUSE_COMPRESSION ?? false,
  }
}

function addressOf(url: string): Address {
  try {
    return readAddress(url)
  } catch (error) {
    throw settingProblem('HEDDLE_CLICKHOUSE_URL', messageOf(error))
  }
}
