/**
 * Loaded into a server under test: kills it when a file operation has come to a place, `CRASH_AT=operation:part of the
 * path`: after a `rename`, before an `rm`.
 */
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const [operation, place = '\0'] = (process.env.CRASH_AT ?? '').split(':')
const { rename, rm } = promises

promises.rename = async (from, to) => {
  await rename(from, to)
  if (operation === 'rename' && String(to).includes(place)) process.kill(process.pid, 'SIGKILL')
}
promises.rm = async (path, options) => {
  if (operation === 'rm' && String(path).includes(place)) process.kill(process.pid, 'SIGKILL')
  await rm(path, options)
}
syncBuiltinESMExports()
