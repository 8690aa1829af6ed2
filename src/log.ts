import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config.ts'

export type Log = Logger

/** The server's structured log: JSON lines, or coloured lines on a terminal. */
export function createLog(config: Pick<Config, 'logLevel' | 'logFormat'>): Log {
  const options = { level: config.logLevel, base: null }
  const destination = standardOutput()
  if (config.logFormat === 'json') return pino(options, destination)
  return pino(
    options,
    pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', singleLine: true, destination }),
  )
}

/**
 * What to write to standard output until the terminal there closes: without it the server goes on, and ends in order.
 */
function standardOutput(): ReturnType<typeof pino.destination> {
  const stream = pino.destination({ dest: 1, sync: true })
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO') throw error
    // As pino does for a pipe without a reader; a flush would otherwise try again for ever.
    stream.write = () => true
    stream.end = () => undefined
    stream.flushSync = () => undefined
    stream.destroy = () => undefined
  })
  return stream
}
