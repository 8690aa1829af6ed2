import { readFileSync } from 'node:fs'
import type { WireServer } from './server.ts'

/** The address of the vLLM that the server has started, and the key that it requires. */
export function engineOf(server: WireServer): { url: string; key: string } {
  const [pid] = server.processes('vllm.entrypoints')
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  const setting = environment.find((variable) => variable.startsWith(KEY_VARIABLE))
  return {
    url: `http://127.0.0.1:${command[command.indexOf('--port') + 1]}`,
    key: setting?.slice(KEY_VARIABLE.length) ?? '',
  }
}

const KEY_VARIABLE = 'VLLM_API_KEY='

/** The sum of one of vLLM's Prometheus metrics. */
export async function engineMetric(server: WireServer, name: string): Promise<number> {
  const text = await (await fetch(`${engineOf(server).url}/metrics`)).text()
  const values = text.split('\n').filter((line) => line.startsWith(`vllm:${name}{`))
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
