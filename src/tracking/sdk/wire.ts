import { z } from 'zod'

/** What a client measures of itself. */
export const Report = z.object({ stream: z.custom<ReadableStream<Uint8Array>>() })
export const ReportBytes = z.string().meta({ description: 'An OTLP message', format: 'binary' })
