import { z } from 'zod'

export const ReportBytes = z.string().meta({ description: 'An OTLP message', format: 'binary' })
