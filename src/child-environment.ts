/** Child processes need none of the server's own secrets. */
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
