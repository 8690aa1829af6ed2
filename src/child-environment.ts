/** Engines need settings, their own tokens and those of their libraries, and none of the server's own secrets. */
export function withoutSecrets({
  HEDDLE_SECRET_KEY: _,
  HEDDLE_SQL_PASSWORD: _password,
  HEDDLE_OIDC_CLIENT_SECRET: _clientSecret,
  HEDDLE_CLICKHOUSE_URL: _clickhouse,
  HEDDLE_POSTGRES_URL: _postgres,
  HEDDLE_REDIS_URL: _redis,
  OTEL_EXPORTER_OTLP_HEADERS: _headers,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: _tracesHeaders,
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: _metricsHeaders,
  HEDDLE_RAY_TOKEN: _ray,
  ...rest
}: NodeJS.ProcessEnv) {
  if (rest['HEDDLE_S3_URL'] === undefined) return rest
  // Those of the bucket. Without it, an engine may read its models with them.
  const { AWS_SECRET_ACCESS_KEY: _key, AWS_SESSION_TOKEN: _token, ...others } = rest
  return others
}

/**
 * Where programs, files and libraries are, how times and texts are written, and how the runtime and its tools were set
 * to work.
 */
const OF_ANY_PROGRAM =
  /^(?:PATH|HOME|TMPDIR|TZ|TZDIR|LANG|LC_\w+|LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_COMPILE_CACHE|\w+SAN_OPTIONS)$/

/**
 * The environment for a program that reads none of the settings. A list of allowed names keeps out secrets of any name.
 */
export function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => value !== undefined && OF_ANY_PROGRAM.test(name)),
  )
}
