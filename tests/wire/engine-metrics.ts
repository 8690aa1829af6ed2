import { readFileSync } from 'node:fs'
import type { WireServer } from './server.ts'

/** A vLLM: its address, and the key that it requires. */
interface Engine {
  url: string
  key: string
}

/** The vLLM that the server has started; where there are several servers, that of each. */
export function enginesOf(server: WireServer): Engine[] {
  const engines = server.processes('engine.inference.api_server').map((pid): [string, Engine] => {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    const setting = environment.find((variable) => variable.startsWith(KEY_VARIABLE))
    const url = `http://${argument(command, '--host')}:${argument(command, '--port')}`
    return [url, { url, key: setting?.slice(KEY_VARIABLE.length) ?? '' }]
  })
  // A fork of one, which renders templates of requests, has its command line.
  return [...new Map(engines).values()]
}

const KEY_VARIABLE = 'VLLM_API_KEY='

function argument(command: readonly string[], name: string): string {
  return command[command.indexOf(name) + 1] ?? ''
}

/** The sum of one of vLLM's Prometheus metrics. */
export async function engineMetric(server: WireServer, name: string): Promise<number> {
  const texts = await Promise.all(
    enginesOf(server).map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  )
  const values = texts.flatMap((text) => text.split('\n')).filter((line) => line.startsWith(`vllm:${name}{`))
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
