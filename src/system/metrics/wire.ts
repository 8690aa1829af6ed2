import { z } from 'zod'

export const MetricsText = z
  .string()
  .meta({ description: 'Counters and gauges in the text format of Prometheus' })
