import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { startServer } from './server.ts'
import { until } from './until.ts'

/** Makes each SIGUSR2 an error in a listener, which nothing catches. */
const BUGS = join(import.meta.dirname, 'clients/throw_on_signal.mjs')

const ENV = { HEDDLE_ENGINE_PYTHON: '/nonexistent/python', NODE_OPTIONS: `--import=${BUGS}` }

/** This many errors in a minute end the server. */
const STORM_ERRORS = 20

function errorsIn(log: string): number {
  return log.split('an error that no code has caught').length - 1
}

describe('an error that no code has caught', () => {
  it('is logged with its stack and counted, health is degraded, and the server goes on', async () => {
    await using server = await startServer(ENV)
    const [pid = 0] = server.processes(SERVER_PROGRAM)
    process.kill(pid, 'SIGUSR2')
    const health = await until(async () => {
      const found = (await (await fetch(`${server.url}/health`)).json()) as {
        status: string
        reason?: string
      }
      return found.status === 'degraded' ? found : undefined
    })
    expect(health).toMatchObject({ status: 'degraded', reason: expect.stringContaining('1 unexpected') })
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('heddle_unexpected_errors_total 1')
    expect(server.log()).toMatch(/made to throw.*throw_on_signal/)
    expect((await server.signal('SIGTERM')).code).toBe(0)
  })

  it('ends the server in order, with an error, when there is one after the other', async () => {
    await using server = await startServer(ENV)
    const [pid = 0] = server.processes(SERVER_PROGRAM)
    const ended = server.ended()
    // One at a time, and no more than are needed: a process that is about to exit dies of a further signal.
    for (let count = 1; count <= STORM_ERRORS; count++) {
      process.kill(pid, 'SIGUSR2')
      await until(async () => (errorsIn(server.log()) === count ? true : undefined))
    }
    expect(await ended).toBe(1)
    expect(server.log()).toContain('"msg":"stopping"')
  })
})
