import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isReady, pythonIn } from '../../scripts/python-environments.ts'
import { readConfig } from '../../src/config.ts'
import { useTestServer } from '../../src/testing.ts'

const CHART = join(import.meta.dirname, '../../deploy/helm/heddle')

const NEEDED = { existingSecret: 'loom-secrets', s3: { url: 's3://files/loom' } }

const EVERYTHING = {
  ...NEEDED,
  image: { repository: 'registry.example/heddle', tag: '1', pullPolicy: 'Always', pullSecrets: ['pull'] },
  s3: { ...NEEDED.s3, endpoint: 'https://s3.example', clientEndpoint: 'https://files.example', region: 'eu' },
  hosts: ['heddle.example'],
  trustedProxies: '10.0.0.0/8',
  vllm: { urls: ['http://vllm-0:8000', 'http://vllm-1:8000'], baseModel: 'Qwen/Qwen3-14B' },
  env: { HEDDLE_LOG: 'debug', HEDDLE_HOST: '::' },
  extraVolumes: [{ name: 'ca', secret: { secretName: 'ca' } }],
  extraVolumeMounts: [{ name: 'ca', mountPath: '/ca', readOnly: true }],
  drainSeconds: 40,
  api: {
    autoscaling: { enabled: true },
    nodeSelector: { pool: 'web' },
    tolerations: [{ key: 'web', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    podAnnotations: { note: 'yes' },
  },
  ingress: {
    enabled: true,
    className: 'nginx',
    hosts: ['loom.example'],
    annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '0' },
    tls: [{ secretName: 'tls', hosts: ['loom.example'] }],
  },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: {} }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
  },
  serviceMonitor: {
    enabled: true,
    keySecret: { name: 'operator', key: 'key' },
    labels: { release: 'prometheus' },
  },
  telemetry: { endpoint: 'http://collector:4318', sampledShare: 0.1 },
  serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/heddle' } },
}

/** What the Secret holds, as its template in the chart's values says. */
const SECRET = {
  HEDDLE_SECRET_KEY: 'k'.repeat(40),
  HEDDLE_CLICKHOUSE_URL: 'https://heddle:hunter2@clickhouse:8443/heddle',
  HEDDLE_POSTGRES_URL: 'postgres://heddle:hunter2@postgres/heddle',
}

interface Document {
  kind: string
  metadata: { name: string }
  data?: Record<string, string>
  spec?: { template?: { spec: Pod }; [field: string]: unknown }
}

interface Pod {
  terminationGracePeriodSeconds: number
  enableServiceLinks: boolean
  containers: {
    env: { name: string; value?: string }[]
    envFrom: unknown[]
    [probe: `${string}Probe`]: { httpGet: { path: string; httpHeaders: { name: string; value: string }[] } }
  }[]
}

interface Rendered {
  documents?: Document[]
  problems?: string[]
  refused?: string
}

function render(...values: object[]): Rendered[] {
  const input = JSON.stringify({ chart: CHART, values })
  const script = join(import.meta.dirname, 'render_chart.py')
  return JSON.parse(execFileSync(pythonIn('charts'), [script], { input, encoding: 'utf8' })) as Rendered[]
}

function podOf(documents: readonly Document[], role: string): Pod {
  const found = documents.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith(role))
  const pod = found?.spec?.template?.spec
  if (pod === undefined) throw new Error(`No deployment of ${role}`)
  return pod
}

/** The variables of a server of a role, as Kubernetes puts them together. */
function environmentOf(documents: readonly Document[], role: string): Record<string, string> {
  const settings = documents.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
  const own = { POD_IP: 'fd00::17', POD_NAME: 'loom-api-0' }
  const listed = podOf(documents, role).containers[0]?.env ?? []
  const named = listed.flatMap(({ name, value }) =>
    value === undefined
      ? []
      : [[name, value.replaceAll(/\$\((POD_\w+)\)/g, (_, of: keyof typeof own) => own[of])]],
  )
  return { ...settings, ...SECRET, ...Object.fromEntries(named) }
}

describe.skipIf(!isReady('charts'))('the chart', () => {
  let plain: Document[] = []
  let full: Document[] = []
  let problems: (string[] | undefined)[] = []

  beforeAll(() => {
    const all = render(NEEDED, EVERYTHING)
    ;[plain = [], full = []] = all.map(({ documents = [] }) => documents)
    problems = all.map((each) => each.problems)
  })

  it('is what Kubernetes knows, with the least that has to be said and with all of it', () => {
    expect(problems).toEqual([[], []])
    const kinds = (documents: Document[]) => documents.map(({ kind }) => kind).sort()
    const always = [
      'ConfigMap',
      'Deployment',
      'Deployment',
      'PodDisruptionBudget',
      'PodDisruptionBudget',
      'Service',
    ]
    expect(kinds(plain)).toEqual([...always, 'ServiceAccount'])
    const optional = ['HorizontalPodAutoscaler', 'Ingress', 'NetworkPolicy', 'Service', 'ServiceMonitor']
    expect(kinds(full)).toEqual([...always, 'ServiceAccount', ...optional].sort())
  })

  it.each(['api', 'worker'] as const)('gives a server of the role %s settings that it accepts', (role) => {
    const config = readConfig(environmentOf(full, role))
    expect(config).toMatchObject({
      role,
      servers: 'several',
      auth: 'keys',
      port: 6060,
      host: '::',
      dataFolder: '/data/heddle',
      drainSeconds: 40,
      logLevel: 'debug',
      s3: { bucket: 'files', endpoint: 'https://s3.example' },
      engine: { baseModel: 'Qwen/Qwen3-14B', vllm: { urls: EVERYTHING.vllm.urls } },
      collector: {
        traces: { url: 'http://collector:4318/v1/traces' },
        sampler: { name: 'parentbased_traceidratio', ratio: 0.1 },
        resource: { 'k8s.pod.name': 'loom-api-0', 'heddle.role': role },
      },
    })
    expect(config.hosts).toEqual(
      expect.arrayContaining(['heddle.example', 'loom.example', 'loom-heddle.prod.svc', '[fd00::17]']),
    )
    expect(readConfig(environmentOf(plain, role)).collector).toBeUndefined()
  })

  it('has links lead to the Ingress, or to where a port is forwarded', () => {
    expect(readConfig(environmentOf(full, 'api')).publicUrl).toBe('https://loom.example')
    expect(readConfig(environmentOf(plain, 'api')).publicUrl).toBe('http://localhost:6060')
    const [given, unknown] = render(
      { ...EVERYTHING, publicUrl: 'https://weave.example' },
      { ...NEEDED, hosts: ['heddle.example'] },
    ).map(({ documents = [] }) => readConfig(environmentOf(documents, 'api')).publicUrl)
    expect(given).toBe('https://weave.example')
    expect(unknown).toBeUndefined()
  })

  it('leaves a server the time to stop, and no variables of Services', () => {
    for (const documents of [plain, full]) {
      const { terminationGracePeriodSeconds, enableServiceLinks } = podOf(documents, 'api')
      const { drainSeconds } = readConfig(environmentOf(documents, 'api'))
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSeconds + 15)
      expect(enableServiceLinks).toBe(false)
    }
    // What a Service of the name heddle would set.
    expect(() => readConfig({ HEDDLE_PORT: 'tcp://10.0.0.1:80' })).toThrow('HEDDLE_PORT')
  })

  it('leaves it to the image where its Python is, which in one with an engine is not the data folder', () => {
    for (const documents of [plain, full])
      for (const role of ['api', 'worker'])
        expect(environmentOf(documents, role)).not.toHaveProperty('HEDDLE_CACHE')
  })

  it('holds no secrets', () => {
    expect(JSON.stringify([plain, full])).not.toContain('hunter2')
    const [container] = podOf(plain, 'api').containers
    expect(container?.envFrom).toContainEqual({ secretRef: { name: 'loom-secrets' } })
  })

  it('refuses values that are missing, misspelled, or make no sense', () => {
    const refused = render(
      {},
      { ...NEEDED, replicas: 3 },
      { ...NEEDED, s3: { url: 'https://files' } },
      { ...NEEDED, worker: { replicas: 0 } },
      { ...NEEDED, env: { HEDDLE_PORT: 1 } },
      { ...NEEDED, ingress: { enabled: true } },
      { ...NEEDED, serviceMonitor: { enabled: true } },
    ).map((each) => each.refused)
    const reasons = [
      'existingSecret',
      'replicas',
      's3/url',
      'worker/replicas',
      'HEDDLE_PORT',
      'ingress/hosts',
      'keySecret',
    ]
    expect(refused).toEqual(reasons.map((reason) => expect.stringContaining(reason)))
  })

  describe('has probes', () => {
    const api = useTestServer({})
    const worker = useTestServer({ role: 'worker' })

    it.each(['api', 'worker'])(
      'that a server of the role %s answers, whatever its names are',
      async (role) => {
        const [container] = podOf(plain, role).containers
        const server = role === 'api' ? api : worker
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
          const { path, httpHeaders } = container?.[probe]?.httpGet ?? { path: '', httpHeaders: [] }
          const headers = Object.fromEntries(
            httpHeaders.map(({ name, value }) => [name.toLowerCase(), value]),
          )
          expect((await server.request(path, { headers })).status).toBe(200)
        }
      },
    )
  })
})
