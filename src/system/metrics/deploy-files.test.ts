import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'

const DEPLOY = resolve(import.meta.dirname, '../../../deploy')
const OPERATIONS = resolve(import.meta.dirname, '../../../docs/OPERATIONS.md')

const server = useTestServer({})

/** What Prometheus calls the series of a histogram. */
const withoutSuffix = (name: string): string => name.replace(/_(bucket|count|sum)$/, '')

describe('GET /metrics', () => {
  it('200 with every metric that the dashboard and the alerts read', async () => {
    const text = await (await server.request('/metrics')).text()
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name))
    for (const file of ['grafana-dashboard.json', 'prometheus-alerts.yaml']) {
      const content = await readFile(resolve(DEPLOY, file), 'utf8')
      const used = content.match(/\b(heddle|process|nodejs)_[a-z0-9_]+/g) ?? []
      expect(used.length).toBeGreaterThan(5)
      const unknown = used.filter((name) => !known.has(name) && !known.has(withoutSuffix(name)))
      expect(unknown, file).toEqual([])
    }
  })

  it('200 for alerts whose runbooks are in the documentation', async () => {
    const alerts = await readFile(resolve(DEPLOY, 'prometheus-alerts.yaml'), 'utf8')
    const operations = await readFile(OPERATIONS, 'utf8')
    const runbooks = [...alerts.matchAll(/runbook: docs\/OPERATIONS\.md, (.+)$/gm)].map(([, title]) => title)
    expect(runbooks.length).toBeGreaterThan(5)
    for (const title of runbooks) expect(operations).toContain(`### ${title}\n`)
  })
})
