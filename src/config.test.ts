import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'
import { messageOf } from './errors.ts'

describe('readConfig', () => {
  it('reads the settings of the engine: defaults, and a vLLM elsewhere only where one is named', () => {
    const { engine } = readConfig({ HEDDLE_DATA: '/data' })
    expect(engine).toMatchObject({
      folder: '/data/engine',
      kvCacheGb: 1,
      priorityScheduling: false,
      mmProcessorKwargs: false,
      requireSampledContext: false,
    })
    expect(engine.vllm).toBeUndefined()
  })

  it('takes URLs with or without a slash at their end', () => {
    const { engine } = readConfig({
      HEDDLE_VLLM_URL: 'http://router:8000/',
      HEDDLE_VLLM_WORKERS: 'http://a:8000, http://b:8000/',
      HEDDLE_PRIORITY_SCHEDULING: 'on',
    })
    expect(engine.vllm).toEqual({
      urls: ['http://router:8000'],
      workers: ['http://a:8000', 'http://b:8000'],
      key: undefined,
    })
    const several = { HEDDLE_VLLM_URLS: 'http://a:8000, http://b:8000/', HEDDLE_VLLM_KEY: 'key' }
    expect(readConfig(several).engine.vllm).toEqual({
      urls: ['http://a:8000', 'http://b:8000'],
      workers: [],
      key: 'key',
    })
    expect(() => readConfig({ ...several, HEDDLE_VLLM_URL: 'http://c:8000' })).toThrow(
      'HEDDLE_VLLM_URL is set as well',
    )
    expect(() => readConfig({ ...several, HEDDLE_VLLM_WORKERS: 'http://c:8000' })).toThrow(
      'HEDDLE_VLLM_WORKERS: needs HEDDLE_VLLM_URL',
    )
    expect(engine.priorityScheduling).toBe(true)
    expect(readConfig({ HEDDLE_REBUILT_CONTEXT: 'refuse' }).engine.requireSampledContext).toBe(true)
  })

  it.each([
    ['0,1', '2,3', { serving: [0, 1], training: [2, 3] }],
    [' 0', '0', { serving: [0], training: [0] }],
  ])('places servers on GPUs %s and trainers on %s', (serving, training, gpus) => {
    const { engine } = readConfig({ HEDDLE_GPUS_SERVING: serving, HEDDLE_GPUS_TRAINING: training })
    expect(engine.gpus).toEqual(gpus)
  })

  it.each([
    ['0,1', '1'],
    ['0,1', '1,2'],
    ['0', '0,1'],
  ])('refuses servers on GPUs %s and trainers on %s, which share some', (serving, training) => {
    expect(() => readConfig({ HEDDLE_GPUS_SERVING: serving, HEDDLE_GPUS_TRAINING: training })).toThrow(
      'HEDDLE_GPUS_TRAINING: has some GPUs of HEDDLE_GPUS_SERVING',
    )
  })

  it('wants the port and the password of SQL access together', () => {
    const password = 'x'.repeat(16)
    expect(readConfig({}).sqlAccess).toBeUndefined()
    expect(readConfig({ HEDDLE_SQL_PORT: '8123', HEDDLE_SQL_PASSWORD: password }).sqlAccess).toEqual({
      port: 8123,
      password,
    })
    expect(() => readConfig({ HEDDLE_SQL_PORT: '8123' })).toThrow('HEDDLE_SQL_PASSWORD')
    expect(() => readConfig({ HEDDLE_SQL_PASSWORD: password })).toThrow('HEDDLE_SQL_PORT')
  })

  it.each([
    ['HEDDLE_ENGINE_MEMORY_GB', '0'],
    ['HEDDLE_GPU_MEMORY', '1.5'],
    ['HEDDLE_KV_CACHE_GB', '0.5'],
    ['HEDDLE_VLLM_URL', 'router:8000'],
    ['HEDDLE_ENGINE_IDLE_MINUTES', '-1'],
    ['HEDDLE_VLLM_WORKERS', 'http://a:8000'],
    ['HEDDLE_VLLM_KEY', 'secret'],
    ['HEDDLE_SQL_PASSWORD', 'short'],
    ['HEDDLE_SQL_PASSWORD', '</password>12345'],
    ['HEDDLE_SQL_PORT', '0'],
    ['HEDDLE_STALL_SECONDS', '1e9'],
    ['HEDDLE_SECRET_KEY', ' '.repeat(40)],
    ['HEDDLE_IDENTITY_HOSTS', 'https://issuer'],
    ['HEDDLE_OIDC_ISSUER', 'http://issuer.example'],
    ['HEDDLE_OIDC_SCOPES', 'profile'],
    ['HEDDLE_OIDC_SIGN_UP', 'on'],
    ['HEDDLE_GPUS_TRAINING', '0'],
    ['HEDDLE_GPUS_TRAINING', '0,0'],
    ['HEDDLE_GPUS_SERVING', 'all'],
    ['HEDDLE_TENSOR_PARALLEL', '2'],
    ['HEDDLE_VLLM_SLEEP', 'on'],
    ['HEDDLE_BASE_QUANTIZATION', 'int4'],
    ['HEDDLE_VLLM_FLAGS', '--port 8000'],
  ])('names a wrong variable: %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(`Bad configuration:\n  ${name}`)
  })

  it('refuses a port that is used twice', () => {
    const env = { HEDDLE_PORT: '7000', HEDDLE_SQL_PORT: '7000', HEDDLE_SQL_PASSWORD: 'x'.repeat(16) }
    expect(() => readConfig(env)).toThrow('HEDDLE_SQL_PORT: is the port of HEDDLE_PORT')
  })

  it('refuses files that are no certificate', () => {
    const file = import.meta.filename
    expect(() => readConfig({ HEDDLE_TLS_CERT: file, HEDDLE_TLS_KEY: file })).toThrow(
      `HEDDLE_TLS_CERT: ${file} is no certificate in PEM`,
    )
  })

  it.each(['/srv', '/srv/', '/srv/heddle', '/'])(
    'refuses the folder of engines that holds the data: %s',
    (folder) => {
      const env = { HEDDLE_DATA: '/srv/heddle', HEDDLE_ENGINE_FOLDER: folder }
      expect(() => readConfig(env)).toThrow('HEDDLE_ENGINE_FOLDER')
      expect(readConfig({ ...env, HEDDLE_ENGINE_FOLDER: '/srv/heddle-engine' }).engine.folder).toBe(
        '/srv/heddle-engine',
      )
    },
  )

  const issuer = { HEDDLE_OIDC_ISSUER: 'https://id.example', HEDDLE_OIDC_CLIENT_ID: 'heddle' }
  const provider = { ...issuer, HEDDLE_AUTH: 'keys' }

  it('reads the sign-in provider, and what its groups grant', () => {
    expect(readConfig({}).singleSignOn).toBeUndefined()
    expect(readConfig(provider).singleSignOn).toMatchObject({
      scopes: 'openid profile email',
      groupsClaim: 'groups',
      signUp: false,
    })
    const grant = { entity: 'looms', role: 'member' }
    const groups = JSON.stringify({ weavers: grant, owners: [grant, { operator: true }] })
    const { singleSignOn, environment } = readConfig({
      ...provider,
      HEDDLE_OIDC_CLIENT_SECRET: 'secret',
      HEDDLE_OIDC_GROUPS: groups,
    })
    expect(Object.fromEntries(singleSignOn?.groups ?? [])).toEqual({
      weavers: [grant],
      owners: [grant, { operator: true }],
    })
    expect(JSON.stringify(environment)).not.toContain('"secret"')
  })

  it.each([
    ['HEDDLE_OIDC_ISSUER', issuer],
    ['HEDDLE_OIDC_CLIENT_ID', { ...provider, HEDDLE_OIDC_CLIENT_ID: undefined }],
    ['HEDDLE_OIDC_GROUPS', { ...provider, HEDDLE_OIDC_GROUPS: '{"weavers": {"entity": "looms"}}' }],
    ['HEDDLE_OIDC_CLIENT_SECRET_FILE', { ...provider, HEDDLE_OIDC_CLIENT_SECRET_FILE: '/nonexistent' }],
  ])('names what is wrong with the sign-in provider: %s', (name, env) => {
    expect(() => readConfig(env)).toThrow(`Bad configuration:\n  ${name}`)
  })

  it('reads hosts in lower case, and IPv6 addresses with or without brackets', () => {
    const { hosts } = readConfig({ HEDDLE_HOSTS: 'Loom.example, FD00:0:0::17,[::2]' })
    expect(hosts).toEqual(['loom.example', '[fd00::17]', '[::2]'])
    expect(() => readConfig({ HEDDLE_HOSTS: 'a b' })).toThrow('HEDDLE_HOSTS')
  })

  it.each(['loom.example:6060', 'loom.example,[fd00::17]:6060'])(
    'refuses a port behind a name of the server, which would match no request: %s',
    (names) => {
      expect(() => readConfig({ HEDDLE_HOSTS: names })).toThrow('HEDDLE_HOSTS: names without ports')
    },
  )

  it.each([
    ['192.168.1.5', ['loom.example', '192.168.1.5']],
    ['FD00::0:17', ['loom.example', '[fd00::17]']],
    ['0.0.0.0', ['loom.example']],
    ['::', ['loom.example']],
  ])('knows the server by the address that it listens on: %s', (host, hosts) => {
    const env = { HEDDLE_AUTH: 'keys', HEDDLE_HOST: host, HEDDLE_HOSTS: 'loom.example' }
    expect(readConfig(env).hosts).toEqual(hosts)
  })

  it('takes an address for links without a path, under whose name it is then known', () => {
    const env = { HEDDLE_PUBLIC_URL: 'https://Loom.example:8443/' }
    expect(readConfig(env)).toMatchObject({
      publicUrl: 'https://loom.example:8443',
      hosts: ['loom.example'],
    })
    for (const url of ['loom.example', 'ftp://loom.example', 'https://loom.example/heddle', 'https://a@b'])
      expect(() => readConfig({ HEDDLE_PUBLIC_URL: url })).toThrow('HEDDLE_PUBLIC_URL')
  })

  it('keeps what authenticates to the collector from child processes', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hunter2', OTEL_SERVICE_NAME: 'loom' }
    expect(readConfig(env).environment).toEqual({ OTEL_SERVICE_NAME: 'loom' })
  })

  it('keeps keys of providers and scorers from engines, wherever they are', () => {
    const env = {
      HF_TOKEN: 'h',
      OPENAI_API_KEY: 'secret',
      HEDDLE_VLLM_URL: 'http://127.0.0.1:8000',
      HEDDLE_VLLM_KEY: 'secret',
      HEDDLE_PROVIDERS: JSON.stringify({
        inline: { base_url: 'https://a.example', api_key: 'secret' },
        groq: { base_url: 'https://b.example', api_key_env: 'GROQ_KEY' },
      }),
      GROQ_KEY: 'secret',
      HEDDLE_SCORER_SECRETS: JSON.stringify({ MINE: { value_env: 'MY_TOKEN', hosts: ['c.example'] } }),
      MY_TOKEN: 'secret',
    }
    expect(readConfig(env).environment).toEqual({ HF_TOKEN: 'h' })
  })

  it('names all wrong variables at once, whichever file reads them', () => {
    const env = {
      HEDDLE_PORT: 'x',
      HEDDLE_GPU_MEMORY: 'x',
      HEDDLE_SERVERS: 'many',
      HEDDLE_ROLE: 'none',
      HEDDLE_S3_ENDPOINT: 'x',
      HEDDLE_CLICKHOUSE_CLUSTER: '/',
      HEDDLE_RAY_URL: 'x',
      HEDDLE_OIDC_ISSUER: 'x',
      HEDDLE_PROVIDERS: '[',
      HEDDLE_SCORER_SECRETS: '{"A": {}, "B": {}}',
      OTEL_TRACES_SAMPLER: 'x',
      OTEL_BSP_SCHEDULE_DELAY: 'x',
    }
    expect(namesIn(env)).toEqual([...Object.keys(env), 'HEDDLE_SCORER_SECRETS'].sort())
  })

  it('names all that are without the one that they belong to', () => {
    const env = {
      HEDDLE_CLICKHOUSE_CA: '/a',
      HEDDLE_REDIS_CA: '/a',
      HEDDLE_RAY_TOKEN: 'x',
      HEDDLE_RAY_WORKSPACE: '/a',
      HEDDLE_OIDC_SCOPES: 'openid',
      HEDDLE_OIDC_GROUPS: '{}',
    }
    expect(namesIn(env)).toEqual(Object.keys(env).sort())
  })

  it('names all files that are wrong', () => {
    const env = {
      HEDDLE_SECRET_KEY_FILE: '/no/file',
      HEDDLE_TLS_CERT: '/no/file',
      HEDDLE_HOST: '0.0.0.0',
      HEDDLE_WORKSPACE: 's3',
    }
    expect(namesIn({ ...env, HEDDLE_TLS_KEY: '/no/file' })).toEqual(Object.keys(env).sort())
  })
})

/** The variables that a refusal names, one for each of its lines. */
function namesIn(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env)
  } catch (error) {
    const [head, ...lines] = messageOf(error).split('\n')
    expect(head).toBe('Bad configuration:')
    return lines.map((line) => line.trim().split(':', 1).join()).sort()
  }
  return []
}
