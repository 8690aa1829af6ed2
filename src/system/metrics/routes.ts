import { type Route, route } from '../../http/route.ts'
import type { Metrics } from './service.ts'
import { MetricsText } from './wire.ts'

export function metricsRoutes(metrics: Metrics): Route[] {
  return [
    route({
      method: 'GET',
      path: '/metrics',
      operationId: 'metrics',
      summary: 'Counters and gauges for Prometheus',
      family: 'trace',
      access: 'machine',
      reply: 'raw',
      replyTypes: ['text/plain'],
      response: MetricsText,
      handle: metrics.text,
    }),
  ]
}
