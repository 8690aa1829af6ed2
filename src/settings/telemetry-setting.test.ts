import { describe, expect, it } from 'vitest'
import { readTelemetrySetting } from './telemetry-setting.ts'

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example:4318/' }

describe('readTelemetrySetting', () => {
  it.each([
    {},
    { OTEL_SERVICE_NAME: 'heddle', OTEL_TRACES_EXPORTER: 'otlp' },
    { ...COLLECTOR, OTEL_SDK_DISABLED: 'true', OTEL_ANYTHING: 'at all' },
    { ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
  ])('reports nothing with %j', (env) => {
    expect(readTelemetrySetting(env)).toBeUndefined()
  })

  it('reports both kinds below one address, or each to one of its own', () => {
    const both = readTelemetrySetting(COLLECTOR)
    expect(both?.traces?.url).toBe('https://collector.example:4318/v1/traces')
    expect(both?.metrics?.url).toBe('https://collector.example:4318/v1/metrics')
    const own = readTelemetrySetting({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces.example/spans',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'api-key=b',
      OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=a,x=1%2C2',
    })
    expect(own?.metrics).toBeUndefined()
    expect(own?.traces).toMatchObject({
      url: 'http://traces.example/spans',
      headers: { 'api-key': 'b', x: '1,2' },
    })
  })

  it('names the service by its variable, then by the attributes of the resource', () => {
    const resource = { ...COLLECTOR, OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,team=b%3Dc' }
    expect(readTelemetrySetting(COLLECTOR)?.serviceName).toBe('heddle')
    expect(readTelemetrySetting(resource)).toMatchObject({ serviceName: 'a', resource: { team: 'b=c' } })
    expect(readTelemetrySetting({ ...resource, OTEL_SERVICE_NAME: 'c' })?.serviceName).toBe('c')
  })

  it('lets pass what is of other programs', () => {
    const env = { ...COLLECTOR, OTEL_LOGS_EXPORTER: 'otlp', OTEL_PYTHON_LOG_LEVEL: 'info' }
    expect(readTelemetrySetting(env)).toBeDefined()
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT: '],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:hunter2@host' }, 'OTEL_EXPORTER_OTLP_ENDPOINT: has a user'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' }, 'OTEL_EXPORTER_OTLP_HEADERS: is pairs'],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
      'OTEL_EXPORTER_OTLP_HEADERS: the value of a is not percent-encoded',
    ],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=hunter2%0D%0Ab: c' }, 'OTEL_EXPORTER_OTLP_HEADERS: a is no header'],
    [{ OTEL_TRACES_SAMPLER: 'xray' }, 'OTEL_TRACES_SAMPLER: '],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG: '],
    [{ OTEL_METRICS_EXPORTER: 'prometheus' }, 'OTEL_METRICS_EXPORTER: '],
    [{ OTEL_PROPAGATORS: 'b3' }, 'OTEL_PROPAGATORS: is not supported'],
    [{ OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere' }, 'OTEL_EXPORTER_OTLP_CERTIFICATE: '],
  ])('refuses %j by name, without what it holds', (env, message) => {
    expect(() => readTelemetrySetting({ ...COLLECTOR, ...env })).toThrow(message)
    expect(() => readTelemetrySetting({ ...COLLECTOR, ...env })).not.toThrow('hunter2')
  })
})
