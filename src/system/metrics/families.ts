import type { MetricObjectWithValues, MetricValueWithName } from '@prometheus-io/client'
import type { HistogramPoint, MetricFamily } from '../../telemetry.ts'

type Family = MetricObjectWithValues<MetricValueWithName<string>>

/**
 * What the registry has, metric by metric. Summaries are left out: their quantiles cannot be added up, and histograms
 * of the same values are there. So are values that are no numbers yet.
 */
export function familiesOf(registered: readonly Family[]): MetricFamily[] {
  return registered.flatMap(({ name, help, type, values }): MetricFamily[] => {
    if (type === 'summary') return []
    if (type === 'histogram') return [{ name, help, type, points: histograms(values) }]
    const points = values
      .filter(({ value }) => Number.isFinite(value))
      .map(({ labels, value }) => ({ labels: textsOf(labels), value }))
    return [{ name, help, type, points }]
  })
}

/** Prometheus has a value for each bucket, whose bound is a label, and two for sum and count. */
function histograms(values: Family['values']): HistogramPoint[] {
  const points = new Map<string, HistogramPoint>()
  for (const { metricName = '', labels: all, value } of values) {
    const { le, ...labels } = textsOf(all)
    const key = JSON.stringify(labels)
    const point = points.get(key) ?? { labels, bounds: [], cumulative: [], count: 0, sum: 0 }
    points.set(key, point)
    if (metricName.endsWith('_sum')) point.sum = value
    else if (metricName.endsWith('_count')) point.count = value
    else if (le !== undefined && le !== '+Inf') {
      point.bounds.push(Number(le))
      point.cumulative.push(value)
    }
  }
  return [...points.values()]
}

function textsOf(labels: Family['values'][number]['labels']): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))
}
