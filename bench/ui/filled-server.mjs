/** A server that holds the calls that its pages are to show. */
import { importCalls } from '../traces/measure.mjs'
import { startServer } from '../traces/servers.mjs'
import { WIRES } from '../traces/wires.mjs'
import { makeCalls, STEP_MS } from '../traces/workload.mjs'

const WIRE_OF = { Heddle: WIRES.otlp, Phoenix: WIRES.phoenix, MLflow: WIRES.mlflow }

/** The newest call started this long ago. */
const AGE_MS = 60_000

/**
 * Starts a server and sends it so many spans; all get the same by the same protocol. They end a minute ago, because pages
 * show the newest first and some only what is recent.
 * @returns also `words`, with which the input of the newest trace begins
 */
export async function filledServer(name, calls) {
  const wire = WIRE_OF[name]
  const server = await startServer(name)
  const shiftMs = Date.now() - AGE_MS - calls * STEP_MS - makeCalls(1).next().value.startedMs
  let newest = { number: -1 }
  const recently = (call) => {
    if (call.parent === null && call.number > newest.number) newest = call
    return { ...call, startedMs: call.startedMs + shiftMs, endedMs: call.endedMs + shiftMs }
  }
  const body = (project, batch) => wire.body(project, batch.map(recently))
  try {
    const { prepared, visiblePerSecond } = await importCalls(server, { ...wire, body }, { calls })
    return {
      name,
      calls,
      server,
      prepared,
      project: wire.project,
      words: newest.prompt.split(' ').slice(0, 2).join(' '),
      fillSeconds: calls / visiblePerSecond,
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** The others do nothing while one is measured: their processes are stopped, and continue afterwards. */
export async function alone({ server }, others, work) {
  const signal = (name) => {
    for (const other of others) if (other.server !== server) process.kill(-other.server.pid, name)
  }
  signal('SIGSTOP')
  try {
    return await work()
  } finally {
    signal('SIGCONT')
  }
}
