/** A server that holds the calls that its pages are to show. */
import { importCalls } from '../traces/measure.ts'
import { type BenchServer, startServer } from '../traces/servers.ts'
import { WIRES, type Wire } from '../traces/wires.ts'
import { FIRST_MS, STEP_MS, type WorkCall } from '../traces/workload.ts'

/** The servers that have pages. */
export type PageServerName = 'Heddle' | 'Phoenix' | 'MLflow'

export interface FilledServer {
  name: PageServerName
  calls: number
  server: BenchServer
  /** Headers that name what was made for the calls. */
  prepared: Record<string, string>
  project: string
  /** With these the input of the newest trace begins. */
  words: string
  fillSeconds: number
}

const WIRE_OF: Record<PageServerName, Wire> = {
  Heddle: WIRES.otlp,
  Phoenix: WIRES.phoenix,
  MLflow: WIRES.mlflow,
}

/** The newest call started this long ago. */
const AGE_MS = 60_000

/**
 * Starts a server and sends it so many spans; all get the same by the same protocol. They end a minute ago, because
 * pages show the newest first and some only what is recent.
 */
export async function filledServer(name: PageServerName, calls: number): Promise<FilledServer> {
  const wire = WIRE_OF[name]
  const server = await startServer(name)
  const shiftMs = Date.now() - AGE_MS - calls * STEP_MS - FIRST_MS
  let newest: Pick<WorkCall, 'number' | 'prompt'> = { number: -1, prompt: '' }
  const recently = (call: WorkCall): WorkCall => {
    if (call.parent === null && call.number > newest.number) newest = call
    return { ...call, startedMs: call.startedMs + shiftMs, endedMs: call.endedMs + shiftMs }
  }
  const body: Wire['body'] = (project, batch) => wire.body(project, batch.map(recently))
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
export async function alone<Result>(
  server: BenchServer | undefined,
  others: readonly FilledServer[],
  work: () => Promise<Result>,
): Promise<Result> {
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const other of others) if (other.server !== server) process.kill(-other.server.pid, name)
  }
  signal('SIGSTOP')
  try {
    return await work()
  } finally {
    signal('SIGCONT')
  }
}
