import { describe, expect, it } from 'vitest'
import { readConfig } from '../config.ts'

describe('given settings', () => {
  it('that are empty count as not set', () => {
    const names = [
      'HOST',
      'PORT',
      'DATA',
      'CACHE',
      'ENGINE_FOLDER',
      'ENGINE_PYTHON',
      'RECENT_CALLS_MB',
      'HOSTS',
    ]
    const empty = Object.fromEntries(names.map((name) => [`HEDDLE_${name}`, '']))
    const { environment: _given, ...config } = readConfig({ ...empty, OTEL_EXPORTER_OTLP_ENDPOINT: '' })
    const { environment: _none, ...defaults } = readConfig({})
    expect(JSON.stringify(config)).toBe(JSON.stringify(defaults))
  })

  it.each([
    ['HEDDLE_AUHT', 'keys', 'is no setting: did you mean HEDDLE_AUTH?'],
    ['HEDDLE_PROT', '7000', 'is no setting: did you mean HEDDLE_PORT?'],
    ['HEDDLE_OIDC_ISUER', 'https://id.example', 'is no setting: did you mean HEDDLE_OIDC_ISSUER?'],
    ['HEDDLE_VERBOSE', '1', 'is no setting: docs/CONFIGURATION.md lists them'],
  ])('of unknown names are refused: %s', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(`Bad configuration:\n  ${name}: ${message}`)
  })

  it.each([
    'HEDDLE_PORT',
    'HEDDLE_RECENT_CALLS_MB',
    'HEDDLE_ENGINE_IDLE_MINUTES',
    'HEDDLE_DRAIN_SECONDS',
    'HEDDLE_PROVIDERS',
  ])('that hold spaces alone are refused, which would count as 0: %s', (name) => {
    expect(() => readConfig({ [name]: ' ' })).toThrow(`Bad configuration:\n  ${name}: holds spaces alone`)
  })

  it('of other programs and of Kubernetes are let be', () => {
    const others = {
      HEDDLE_API_KEY: 'k',
      HEDDLE_TEST_SERVERS: '[]',
      HEDDLE_SERVICE_HOST: '10.0.0.1',
      HEDDLE_API_SERVICE_PORT_HTTP: '6060',
      HEDDLE_API_PORT: 'tcp://10.0.0.1:6060',
      HEDDLE_API_PORT_6060_TCP_ADDR: '10.0.0.1',
      HEDDLE_MY_PROVIDER: 'a key',
      HEDDLE_PROVIDERS: JSON.stringify({
        mine: { base_url: 'https://m.example', api_key_env: 'HEDDLE_MY_PROVIDER' },
      }),
    }
    expect(() => readConfig(others)).not.toThrow()
  })
})
