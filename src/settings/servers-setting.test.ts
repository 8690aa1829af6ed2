import { describe, expect, it } from 'vitest'
import { readServersSetting } from './servers-setting.ts'

const SHARED = {
  HEDDLE_CLICKHOUSE_URL: 'https://db.example',
  HEDDLE_POSTGRES_URL: 'postgres://db.example/heddle',
  HEDDLE_S3_URL: 's3://bucket',
  HEDDLE_SECRET_KEY: 'k'.repeat(40),
}

describe('readServersSetting', () => {
  it('is one server that does all without settings', () => {
    expect(readServersSetting({})).toEqual({ servers: 'one', role: 'all', drainSeconds: 0 })
  })

  it('reads several servers over shared stores, each with a role', () => {
    const settings = { ...SHARED, HEDDLE_SERVERS: 'several' }
    expect(readServersSetting(settings)).toEqual({ servers: 'several', role: 'all', drainSeconds: 0 })
    expect(readServersSetting({ ...settings, HEDDLE_ROLE: 'worker' }).role).toBe('worker')
  })

  it.each(Object.keys(SHARED))('refuses several servers without %s', (name) => {
    const { [name]: _, ...others }: Record<string, string> = SHARED
    expect(() => readServersSetting({ ...others, HEDDLE_SERVERS: 'several' })).toThrow(
      `HEDDLE_SERVERS: several needs ${name}`,
    )
  })

  it.each([
    [{ HEDDLE_SERVERS: 'many' }, 'HEDDLE_SERVERS: '],
    [{ HEDDLE_ROLE: 'api' }, 'HEDDLE_ROLE: needs HEDDLE_SERVERS=several'],
    [{ HEDDLE_REDIS_URL: 'redis://db.example' }, 'HEDDLE_REDIS_URL: needs HEDDLE_SERVERS=several'],
    [
      { ...SHARED, HEDDLE_SERVERS: 'several', HEDDLE_RECENT_CALLS_MB: '64' },
      'HEDDLE_RECENT_CALLS_MB: is for one server',
    ],
  ])('refuses %j', (settings, message) => {
    expect(() => readServersSetting(settings)).toThrow(message)
  })
})
