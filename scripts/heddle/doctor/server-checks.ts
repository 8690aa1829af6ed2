/** Checks of the address, and of a server that runs there. */
import { createServer } from 'node:net'
import { z } from 'zod'
import type { Config } from '../../../src/config.ts'
import { messageOf } from '../../../src/errors.ts'
import { holderOf } from '../../../src/stores/data-folder.ts'
import { type Address, jsonOf, reach, replyOf } from '../../ask.ts'
import { addressOf } from '../running-server.ts'
import { type Check, type Finding, failed, ok, warning } from './check.ts'

/** `/health` answers within two seconds. */
const ANSWER_MS_MAX = 10_000

const Health = z.object({ status: z.enum(['ok', 'degraded', 'failing']), reason: z.string().optional() })

export function serverChecks(config: Config): Check[] {
  const running = (): Address | undefined => addressOf(holderOf(config.dataFolder))
  return [
    { name: 'port', run: () => port(config, running()) },
    { name: 'server', run: () => health(running()) },
  ]
}

/** Whether the next start could listen. */
async function port({ host, port: number }: Config, running: Address | undefined): Promise<Finding> {
  if (running?.url.endsWith(`:${number}`)) return ok(`${number} is that of this Heddle`)
  const error = await listenError(host, number)
  if (error === undefined) return ok(`${number} is free on ${host}`)
  return failed(`${host}:${number}: ${error}`, `heddle serve --port ${number + 1}`)
}

function listenError(host: string, number: number): Promise<string | undefined> {
  return new Promise((fulfil) => {
    const listener = createServer()
    listener.once('error', (error) => fulfil(messageOf(error)))
    listener.listen(number, host, () => listener.close(() => fulfil(undefined)))
  })
}

async function health(running: Address | undefined): Promise<Finding> {
  if (running === undefined) return ok('None runs on this data folder')
  const { url } = running
  try {
    const response = await reach(running, '/health', { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    const { status, reason } = replyOf(url, Health, jsonOf(url, await response.text()))
    const detail = `${url} is ${status}${reason === undefined ? '' : `: ${reason}`}`
    if (status === 'ok') return ok(detail)
    return (status === 'degraded' ? warning : failed)(detail, 'look for errors in the log of the server')
  } catch (error) {
    return failed(messageOf(error), 'look at the log of the server, and start it again')
  }
}
