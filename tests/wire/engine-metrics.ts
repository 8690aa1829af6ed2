import { readFileSync } from 'node:fs'
import type { WireServer } from './server.ts'

/** Where the vLLM listens that the server has started. */
export function enginePort(server: WireServer): number {
  const [pid] = server.processes('vllm.entrypoints')
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  return Number(command[command.indexOf('--port') + 1])
}

/** The sum of one of vLLM's own Prometheus metrics. */
export async function engineMetric(server: WireServer, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${enginePort(server)}/metrics`)).text()
  const values = text.split('\n').filter((line) => line.startsWith(`vllm:${name}{`))
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
