import { z } from 'zod'
import { messageOf } from '../errors.ts'
import { readS3Address, type S3Options } from '../stores/blobs/s3-address.ts'
import { type PostgresOptions, readPostgresAddress } from '../stores/control-db/postgres-address.ts'
import { type RedisOptions, readRedisAddress } from '../stores/redis/address.ts'
import { type ElsewhereOptions, readAddress } from '../stores/trace-db/elsewhere/address.ts'
import { textSetting, variableSettings } from './read-setting.ts'
import { readAll, refuseProblems, type SettingProblem, settingProblem } from './setting-problems.ts'

/** Stores that others operate; undefined for those that are in the data folder. */
export interface StoresElsewhere {
  /** The server that the trace database is on. */
  clickhouse: ElsewhereOptions | undefined
  /** The server that the control database is on. */
  postgres: PostgresOptions | undefined
  /** The server through which servers send each other messages. */
  redis: RedisOptions | undefined
  /** The bucket that blobs are in. */
  s3: S3Options | undefined
}

const Url = z.url({ protocol: /^https?$/ })

const Variables = z.object({
  HEDDLE_CLICKHOUSE_URL: z.string().optional(),
  HEDDLE_CLICKHOUSE_CA: z.string().optional(),
  HEDDLE_CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[\w.-]+$/, { error: 'letters, digits, _, - and .' })
    .optional(),
  HEDDLE_CLICKHOUSE_COMPRESSION: z.stringbool().optional(),
  HEDDLE_SQL_PORT: z.string().optional(),
  HEDDLE_POSTGRES_URL: z.string().optional(),
  HEDDLE_POSTGRES_CA: z.string().optional(),
  HEDDLE_REDIS_URL: z.string().optional(),
  HEDDLE_REDIS_CA: z.string().optional(),
  HEDDLE_S3_URL: z.string().optional(),
  HEDDLE_S3_ENDPOINT: Url.optional(),
  HEDDLE_S3_CLIENT_ENDPOINT: Url.optional(),
  AWS_ENDPOINT_URL_S3: Url.optional(),
  AWS_ENDPOINT_URL: Url.optional(),
  AWS_REGION: z.string().optional(),
  AWS_DEFAULT_REGION: z.string().optional(),
})

type Values = z.output<typeof Variables>

/** Settings that would be ignored without another one. */
const OF: Partial<Record<keyof Values, readonly (keyof Values)[]>> = {
  HEDDLE_CLICKHOUSE_URL: [
    'HEDDLE_CLICKHOUSE_CA',
    'HEDDLE_CLICKHOUSE_CLUSTER',
    'HEDDLE_CLICKHOUSE_COMPRESSION',
  ],
  HEDDLE_POSTGRES_URL: ['HEDDLE_POSTGRES_CA'],
  HEDDLE_REDIS_URL: ['HEDDLE_REDIS_CA'],
  HEDDLE_S3_URL: ['HEDDLE_S3_ENDPOINT', 'HEDDLE_S3_CLIENT_ENDPOINT'],
}

/** Reads which stores are elsewhere. @throws Error that names a bad variable, without what it holds */
export function readStoresElsewhere(env: NodeJS.ProcessEnv): StoresElsewhere {
  const values = variableSettings(Variables, env)
  const ignored = Object.entries(OF).flatMap(([needed, names]) =>
    env[needed] === undefined
      ? names
          .filter((name) => values[name] !== undefined)
          .map((name): SettingProblem => [name, `needs ${needed}`])
      : [],
  )
  refuseProblems(ignored)
  return readAll({
    clickhouse: () => clickhouseOf(values),
    postgres: () => postgresOf(values),
    redis: () => redisOf(values),
    s3: () => s3Of(values),
  })
}

function clickhouseOf(values: Values): ElsewhereOptions | undefined {
  const { HEDDLE_CLICKHOUSE_URL: url, HEDDLE_CLICKHOUSE_CA: ca } = values
  if (url === undefined) return undefined
  if (values.HEDDLE_SQL_PORT !== undefined)
    throw settingProblem(
      'HEDDLE_SQL_PORT',
      'is of the embedded database: ask the server of HEDDLE_CLICKHOUSE_URL itself',
    )
  checked('HEDDLE_CLICKHOUSE_URL', () => readAddress(url))
  return {
    url,
    ca: certificatesOf('HEDDLE_CLICKHOUSE_CA', ca),
    cluster: values.HEDDLE_CLICKHOUSE_CLUSTER,
    isCompressed: values.HEDDLE_CLICKHOUSE_COMPRESSION ?? false,
  }
}

function postgresOf({
  HEDDLE_POSTGRES_URL: url,
  HEDDLE_POSTGRES_CA: ca,
}: Values): PostgresOptions | undefined {
  if (url === undefined) return undefined
  const options = { url, ca: certificatesOf('HEDDLE_POSTGRES_CA', ca) }
  checked('HEDDLE_POSTGRES_URL', () => readPostgresAddress(options))
  return options
}

function redisOf({ HEDDLE_REDIS_URL: url, HEDDLE_REDIS_CA: ca }: Values): RedisOptions | undefined {
  if (url === undefined) return undefined
  const options = { url, ca: certificatesOf('HEDDLE_REDIS_CA', ca) }
  checked('HEDDLE_REDIS_URL', () => readRedisAddress(options))
  return options
}

/** Variables that other programs of Amazon read as well mean the same here. */
function s3Of(values: Values): S3Options | undefined {
  const url = values.HEDDLE_S3_URL
  if (url === undefined) return undefined
  return {
    ...checked('HEDDLE_S3_URL', () => readS3Address(url)),
    endpoint: values.HEDDLE_S3_ENDPOINT ?? values.AWS_ENDPOINT_URL_S3 ?? values.AWS_ENDPOINT_URL,
    clientEndpoint: values.HEDDLE_S3_CLIENT_ENDPOINT,
    region: values.AWS_REGION ?? values.AWS_DEFAULT_REGION,
  }
}

/** The text of a file that a variable names. */
function certificatesOf(name: string, file: string | undefined): string | undefined {
  return file === undefined ? undefined : textSetting(name, file, { charsMin: 1 })
}

function checked<Value>(name: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw settingProblem(name, messageOf(error))
  }
}
