/** Settings, which engines get as flags; what vLLM reads of them `engine.serve` sets itself. */
const OF_SERVER = /^HEDDLE_/

/** What the server itself authenticates with. */
const CREDENTIALS = new Set([
  'OPENAI_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
])

/** Of the bucket that HEDDLE_S3_URL names. Without it, an engine may read its models with them. */
const CREDENTIALS_OF_BUCKET = new Set(['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'])

/** Of the hub, from which engines load models; a provider's key may be the same token. */
const OF_HUB = /^(?:HF|HUGGING_FACE)_/

/**
 * The environment for engines, whose libraries read variables that no list could name: all of it but the server's
 * settings, and what the server or a provider or scorer authenticates with.
 *
 * @param secretVariables the names to which settings point for a key
 */
export function environmentOfEngines(
  environment: NodeJS.ProcessEnv,
  secretVariables: readonly string[],
): NodeJS.ProcessEnv {
  const hasBucket = Boolean(environment['HEDDLE_S3_URL'])
  const isSecret = (name: string): boolean =>
    CREDENTIALS.has(name) ||
    (hasBucket && CREDENTIALS_OF_BUCKET.has(name)) ||
    (secretVariables.includes(name) && !OF_HUB.test(name))
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !OF_SERVER.test(name) && !isSecret(name)),
  )
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
