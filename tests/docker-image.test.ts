import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { listen } from '../src/http/listen.ts'
import { CERT, KEY } from '../src/test-certificate.ts'

const ROOT = join(import.meta.dirname, '..')
const DOCKERFILE = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')

/** The command by which the image says whether its server works, without its program. */
const [, ...HEALTH_ARGS] = JSON.parse(/^HEALTHCHECK .*CMD (.*)$/m.exec(DOCKERFILE)?.[1] ?? '[]') as string[]

/** The exit code of the command in a container with these settings, beside a server that answers with a status. */
async function checked(
  status: 200 | 503,
  { tls, env }: { tls?: { cert: string; key: string }; env?: Record<string, string> },
): Promise<number> {
  const app = new Hono().get('/health', (c) => c.text('', status))
  await using server = await listen(app, { host: '127.0.0.1', port: 0, tls })
  const settings = { ...env, HEDDLE_PORT: new URL(server.url).port }
  return await new Promise((resolve) =>
    execFile(process.execPath, HEALTH_ARGS, { env: settings }, (error) => resolve(error === null ? 0 : 1)),
  )
}

describe('the health check of the image', () => {
  const encrypted = { tls: { cert: CERT, key: KEY }, env: { HEDDLE_TLS_CERT: '/tls/cert.pem' } }

  it.each([
    ['without TLS', {}],
    ['with TLS, whatever the names of its certificate', encrypted],
  ])('asks a server %s', async (_, settings) => {
    expect(await checked(200, settings)).toBe(0)
    expect(await checked(503, settings)).toBe(1)
  })

  it('gives a start that migrates the stores as long as the chart does', () => {
    const chart = readFileSync(join(ROOT, 'deploy/helm/heddle/templates/_pod.tpl'), 'utf8')
    const [, period, failures] =
      /startupProbe:.*?periodSeconds: (\d+).*?failureThreshold: (\d+)/s.exec(chart) ?? []
    const minutes = (Number(period) * Number(failures)) / 60
    expect(DOCKERFILE).toContain(`HEALTHCHECK --start-period=${minutes}m `)
  })
})
