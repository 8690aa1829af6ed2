import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config.ts'

export type Log = Logger

/** The server's structured log: JSON lines, or coloured lines on a terminal. */
export function createLog(config: Pick<Config, 'logLevel' | 'logFormat'>): Log {
  const options = { level: config.logLevel, base: null }
  if (config.logFormat === 'json') return pino(options)
  return pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss', singleLine: true }))
}
