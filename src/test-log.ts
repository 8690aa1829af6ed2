import { createLog } from './log.ts'

/** For tests that do not look at the log. */
export const SILENT = createLog({ logLevel: 'silent', logFormat: 'json' })
