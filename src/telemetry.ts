/**
 * What the server reports of its own work to a collector of OpenTelemetry: spans of requests and jobs with what they
 * ask of stores and engines, and the numbers of `/metrics`. Adapter: telemetry/collector.ts, loaded only where a
 * collector is set (docs/decisions/0042).
 */
export interface Telemetry extends AsyncDisposable {
  /** Whether spans are recorded; where not, nothing below does anything. */
  readonly isOn: boolean
  /**
   * Does a piece of work in a span of its own, which what it asks for becomes a part of.
   * @param header headers of a request, by their lower-case name: the span becomes a child of the one that they name
   */
  root<Result>(
    start: SpanStart,
    work: (span: Span) => Promise<Result>,
    header?: (name: string) => string | undefined,
  ): Promise<Result>
  /**
   * Begins a part of the work in progress, to be ended by the caller; one that records nothing where no work is
   * recorded.
   */
  child(start: SpanStart): Span
  /** Reports numbers from time to time, and once more at disposal. */
  reportMetrics(read: () => Promise<MetricFamily[]>): AsyncDisposable
}

/** Names and identifiers of what was done. Never payloads, keys, or values that only a caller's data has. */
export interface Attributes {
  [name: string]: string | number | boolean | undefined
}

export interface SpanStart {
  /** One of few: no ids. */
  name: string
  kind: 'server' | 'client' | 'consumer'
  attributes: Attributes
  /** For a span that is noted when it has ended: how long ago it began. */
  beganMsAgo?: number
}

export interface Span {
  set(attributes: Attributes): void
  /** Marks it as failed. */
  fail(errorType: string): void
  /** Headers that make the work of another server a part of this span. */
  headers(): Record<string, string>
  end(): void
}

/** A metric as Prometheus knows it. */
export type MetricFamily = { name: string; help: string } & (
  | { type: 'counter' | 'gauge'; points: { labels: Record<string, string>; value: number }[] }
  | { type: 'histogram'; points: HistogramPoint[] }
)

export interface HistogramPoint {
  labels: Record<string, string>
  /** Upper bounds in ascending order; what is beyond the last one is only in `count`. */
  bounds: number[]
  /** How many values are at most the bound of the same place. */
  cumulative: number[]
  count: number
  sum: number
}

/** Reports and records nothing. */
export const NO_TELEMETRY: Telemetry = {
  isOn: false,
  root: (_start, work) => work(NO_SPAN),
  child: () => NO_SPAN,
  reportMetrics: () => ({ async [Symbol.asyncDispose]() {} }),
  async [Symbol.asyncDispose]() {},
}

/** A span that records nothing. */
export const NO_SPAN: Span = {
  set: () => undefined,
  fail: () => undefined,
  headers: () => ({}),
  end: () => undefined,
}

/** The type of an error, for {@link Span.fail}; not its message, which may quote data. */
export function errorTypeOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}
