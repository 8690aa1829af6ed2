/** Checks of the address, and of a server that runs there. */
import { createServer } from 'node:net'
import { z } from 'zod'
import type { Config } from '../../../src/config.ts'
import { messageOf } from '../../../src/errors.ts'
import { holderOf } from '../../../src/stores/data-folder.ts'
import { askableUrl } from '../running-server.ts'
import { type Check, type Finding, failed, ok, warning } from './check.ts'

/** `/health` answers within two seconds. */
const ANSWER_MS_MAX = 10_000

const Health = z.object({ status: z.enum(['ok', 'degraded', 'failing']), reason: z.string().optional() })

export function serverChecks(config: Config): Check[] {
  const url = (): string | undefined => askableUrl(holderOf(config.dataFolder))
  return [
    { name: 'port', look: () => port(config, url()) },
    { name: 'server', look: () => health(url()) },
  ]
}

/** Whether the next start could listen. */
async function port({ host, port: number }: Config, url: string | undefined): Promise<Finding> {
  if (url !== undefined && new URL(url).port === String(number)) return ok(`${number} is that of this Heddle`)
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

async function health(url: string | undefined): Promise<Finding> {
  if (url === undefined) return ok('None runs on this data folder')
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    const { status, reason } = Health.parse(await response.json())
    const detail = `${url} is ${status}${reason === undefined ? '' : `: ${reason}`}`
    if (status === 'ok') return ok(detail)
    return (status === 'degraded' ? warning : failed)(detail, 'look for errors in the log of the server')
  } catch (error) {
    return failed(
      `${url} does not answer: ${messageOf(error)}`,
      'look at the log of the server, and start it again',
    )
  }
}
