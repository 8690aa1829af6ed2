import { z } from 'zod'
import { textSetting, variableSettings } from './read-setting.ts'
import { readAll, refuseProblems, settingProblem } from './setting-problems.ts'

/** Where one kind of report goes. */
export interface OtlpDestination {
  url: string
  /** They may hold keys. */
  headers: Record<string, string>
  /** For one export, with its repetitions. */
  timeoutMs: number
  compression: 'gzip' | 'none'
  /** Certificates in PEM that the collector's is signed by; those that Node knows where absent. */
  ca: string | undefined
}

/** What is reported to a collector of OpenTelemetry. */
export interface TelemetrySetting {
  traces: OtlpDestination | undefined
  metrics: OtlpDestination | undefined
  /** Of the resource: who reports. */
  serviceName: string
  resource: Record<string, string>
  sampler: { name: (typeof SAMPLERS)[number]; ratio: number }
  /** How long a span waits for others. */
  spanWaitMs: number
  /** Spans that wait for the collector; further ones are lost. */
  spansMax: number
  metricIntervalMs: number
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** A collector that needs longer has lost the request; a stop does not wait for it. */
const TIMEOUT_MS_MAX = 60_000

/** One takes some kB. */
const SPANS_MAX = 100_000

/** An hour: later reports tell nothing of the present. */
const INTERVAL_MS_MAX = 3_600_000

/** Below it, reports would be work of their own. */
const INTERVAL_MS_MIN = 100

const Url = z.url({ protocol: /^https?$/ })
const Exporter = z.enum(['otlp', 'none']).default('otlp')
const Protocol = z.literal('http/protobuf', { error: 'only http/protobuf is supported' }).optional()
const Interval = z.coerce.number().int().min(INTERVAL_MS_MIN).max(INTERVAL_MS_MAX)

const Variables = z.object({
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: Url.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: Url.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: Url.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().default(''),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: z.string().default(''),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: z.string().default(''),
  OTEL_EXPORTER_OTLP_PROTOCOL: Protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: Protocol,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: Protocol,
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().positive().max(TIMEOUT_MS_MAX).default(10_000),
  OTEL_EXPORTER_OTLP_COMPRESSION: z.enum(['gzip', 'none']).default('none'),
  OTEL_EXPORTER_OTLP_CERTIFICATE: z.string().optional(),
  OTEL_TRACES_EXPORTER: Exporter,
  OTEL_METRICS_EXPORTER: Exporter,
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().default(''),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: Interval.default(5_000),
  OTEL_BSP_MAX_QUEUE_SIZE: z.coerce.number().int().positive().max(SPANS_MAX).default(8_192),
  OTEL_METRIC_EXPORT_INTERVAL: Interval.default(60_000),
})

type Values = z.output<typeof Variables>

/** Of other programs, or of parts that are not reported, so that they are not taken for settings that act. */
const UNUSED = /^OTEL_(?:LOGS?_|BLRP_|EXPORTER_OTLP_LOGS_|NODE_|PYTHON_|JAVA_|GO_|DOTNET_|SEMCONV_)/

/**
 * Reads where the server reports its own work to; undefined where no collector is set, or `OTEL_SDK_DISABLED` is.
 * @throws Error that names a bad variable, without what it holds
 */
export function readTelemetrySetting(env: NodeJS.ProcessEnv): TelemetrySetting | undefined {
  const values = variableSettings(Variables, env)
  const { traces, metrics } = readAll({
    traces: () => destinationOf(values, 'TRACES'),
    metrics: () => destinationOf(values, 'METRICS'),
  })
  if (values.OTEL_SDK_DISABLED || (traces === undefined && metrics === undefined)) return undefined
  const others = Object.keys(env).filter(
    (name) => name.startsWith('OTEL_') && !(name in Variables.shape) && !UNUSED.test(name),
  )
  refuseProblems(others.map((name) => [name, 'is not supported: docs/CONFIGURATION.md lists what is']))
  const resource = pairsOf('OTEL_RESOURCE_ATTRIBUTES', values.OTEL_RESOURCE_ATTRIBUTES)
  return {
    traces,
    metrics,
    serviceName: values.OTEL_SERVICE_NAME ?? resource['service.name'] ?? 'heddle',
    resource,
    sampler: { name: values.OTEL_TRACES_SAMPLER, ratio: values.OTEL_TRACES_SAMPLER_ARG },
    spanWaitMs: values.OTEL_BSP_SCHEDULE_DELAY,
    spansMax: values.OTEL_BSP_MAX_QUEUE_SIZE,
    metricIntervalMs: values.OTEL_METRIC_EXPORT_INTERVAL,
  }
}

/** As the specification has it: an address of one signal is taken as it is, the common one is a base. */
function destinationOf(values: Values, signal: 'TRACES' | 'METRICS'): OtlpDestination | undefined {
  if (values[`OTEL_${signal}_EXPORTER`] === 'none') return undefined
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '')
  const own = values[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]
  const url = own ?? (base === undefined ? undefined : `${base}/v1/${signal.toLowerCase()}`)
  if (url === undefined) return undefined
  const { username, password } = new URL(url)
  if (username !== '' || password !== '')
    throw settingProblem(
      own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`,
      'has a user or a password: OTEL_EXPORTER_OTLP_HEADERS is for credentials',
    )
  const ca = values.OTEL_EXPORTER_OTLP_CERTIFICATE
  return {
    url,
    headers: {
      ...headersOf('OTEL_EXPORTER_OTLP_HEADERS', values.OTEL_EXPORTER_OTLP_HEADERS),
      ...headersOf(`OTEL_EXPORTER_OTLP_${signal}_HEADERS`, values[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`]),
    },
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    compression: values.OTEL_EXPORTER_OTLP_COMPRESSION,
    ca: ca === undefined ? undefined : textSetting('OTEL_EXPORTER_OTLP_CERTIFICATE', ca, { charsMin: 1 }),
  }
}

function headersOf(variable: string, text: string): Record<string, string> {
  const pairs = Object.entries(pairsOf(variable, text)).map(([name, value]) => [name.toLowerCase(), value])
  for (const [name = '', value = ''] of pairs)
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw settingProblem(variable, `${name} is no header, or its value is none`)
  return Object.fromEntries(pairs)
}

/** `key=value` pairs, separated by commas, with both percent-encoded. */
function pairsOf(variable: string, text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      const name = pair.slice(0, at).trim()
      if (at < 1 || name === '')
        throw settingProblem(variable, 'is pairs like key=value, separated by commas')
      try {
        return [decodeURIComponent(name), decodeURIComponent(pair.slice(at + 1).trim())]
      } catch {
        throw settingProblem(variable, `the value of ${name} is not percent-encoded`)
      }
    }),
  )
}
