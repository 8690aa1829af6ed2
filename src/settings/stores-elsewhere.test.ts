import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readStoresElsewhere } from './stores-elsewhere.ts'

describe('readStoresElsewhere', () => {
  it('has none without settings', () => {
    expect(readStoresElsewhere({})).toEqual({
      clickhouse: undefined,
      postgres: undefined,
      redis: undefined,
      s3: undefined,
    })
  })

  it('reads a ClickHouse server, with the certificates of a file', () => {
    const ca = join(mkdtempSync(join(tmpdir(), 'heddle-ca-')), 'ca.pem')
    writeFileSync(ca, 'certificates\n')
    const url = 'https://ada:secret@db.example:8443/traces'
    const settings = { HEDDLE_CLICKHOUSE_URL: url, HEDDLE_CLICKHOUSE_CA: ca, HEDDLE_CLICKHOUSE_CLUSTER: 'c' }
    expect(readStoresElsewhere(settings).clickhouse).toEqual({
      url,
      ca: 'certificates',
      cluster: 'c',
      isCompressed: false,
    })
  })

  it('reads a PostgreSQL server', () => {
    const url = 'postgresql://ada:secret@db.example/heddle?sslmode=require'
    expect(readStoresElsewhere({ HEDDLE_POSTGRES_URL: url }).postgres).toEqual({ url, ca: undefined })
  })

  it('reads a Redis server', () => {
    const url = 'rediss://:secret@db.example/2'
    expect(readStoresElsewhere({ HEDDLE_REDIS_URL: url }).redis).toEqual({ url, ca: undefined })
  })

  it('reads a bucket, and what other programs of Amazon read', () => {
    const own = { HEDDLE_S3_URL: 's3://bucket/a/b', HEDDLE_S3_CLIENT_ENDPOINT: 'https://s3.example.com' }
    const ofOthers = { AWS_ENDPOINT_URL: 'http://any:1', AWS_REGION: 'eu-central-1' }
    const read = { bucket: 'bucket', prefix: 'a/b/', clientEndpoint: 'https://s3.example.com' }
    expect(readStoresElsewhere(own).s3).toEqual({ ...read, endpoint: undefined, region: undefined })
    expect(readStoresElsewhere({ ...own, ...ofOthers }).s3).toEqual({
      ...read,
      endpoint: 'http://any:1',
      region: 'eu-central-1',
    })
    expect(readStoresElsewhere({ ...own, ...ofOthers, HEDDLE_S3_ENDPOINT: 'http://own:1' }).s3).toMatchObject(
      {
        endpoint: 'http://own:1',
      },
    )
  })

  it.each([
    [{ HEDDLE_CLICKHOUSE_URL: 'db.example' }, 'HEDDLE_CLICKHOUSE_URL: no address'],
    [
      { HEDDLE_CLICKHOUSE_URL: 'http://db.example', HEDDLE_SQL_PORT: '1' },
      'HEDDLE_SQL_PORT: is of the embedded',
    ],
    [
      { HEDDLE_CLICKHOUSE_URL: 'http://db.example', HEDDLE_CLICKHOUSE_CA: '/not/there' },
      'HEDDLE_CLICKHOUSE_CA: ',
    ],
    [{ HEDDLE_CLICKHOUSE_CLUSTER: 'c' }, 'HEDDLE_CLICKHOUSE_CLUSTER: needs HEDDLE_CLICKHOUSE_URL'],
    [{ HEDDLE_CLICKHOUSE_CLUSTER: "'" }, 'HEDDLE_CLICKHOUSE_CLUSTER: letters'],
    [{ HEDDLE_POSTGRES_URL: 'mysql://db.example/heddle' }, 'HEDDLE_POSTGRES_URL: no address'],
    [
      { HEDDLE_POSTGRES_URL: 'postgres://db.example/?host=other' },
      'HEDDLE_POSTGRES_URL: an address without host',
    ],
    [
      { HEDDLE_POSTGRES_URL: 'postgres://db.example/?sslmode=prefer' },
      'HEDDLE_POSTGRES_URL: sslmode is one of',
    ],
    [{ HEDDLE_POSTGRES_CA: '/any' }, 'HEDDLE_POSTGRES_CA: needs HEDDLE_POSTGRES_URL'],
    [{ HEDDLE_REDIS_URL: 'http://db.example' }, 'HEDDLE_REDIS_URL: no address'],
    [{ HEDDLE_REDIS_URL: 'redis://db.example/name' }, 'HEDDLE_REDIS_URL: after the host, the number'],
    [{ HEDDLE_REDIS_URL: 'redis://db.example/0?family=6' }, 'HEDDLE_REDIS_URL: an address without ?'],
    [{ HEDDLE_REDIS_CA: '/any' }, 'HEDDLE_REDIS_CA: needs HEDDLE_REDIS_URL'],
    [{ HEDDLE_S3_URL: 'https://bucket' }, 'HEDDLE_S3_URL: no address'],
    [{ HEDDLE_S3_URL: 's3://bucket/a b' }, 'HEDDLE_S3_URL: a prefix has'],
    [{ HEDDLE_S3_ENDPOINT: 'http://any:1' }, 'HEDDLE_S3_ENDPOINT: needs HEDDLE_S3_URL'],
  ])('refuses %j', (settings, message) => {
    expect(() => readStoresElsewhere(settings)).toThrow(message)
  })

  it('does not repeat a password', () => {
    const settings = { HEDDLE_CLICKHOUSE_URL: 'https://ada:secret@db.example/x-y' }
    expect(() => readStoresElsewhere(settings)).toThrow(/^((?!secret).)*$/s)
  })
})
