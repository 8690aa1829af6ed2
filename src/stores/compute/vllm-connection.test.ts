import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { NO_TELEMETRY } from '../../telemetry.ts'
import { eventually } from '../../test-eventually.ts'
import type { InferenceProcess } from './port.ts'
import { createConnections, newAgent } from './vllm-connection.ts'

const STALL_MS = 200

let opened = new AsyncDisposableStack()
afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

/** A vLLM whose queue is so long that no prompt is answered; a test answers by hand. */
async function startBusy(
  metrics: () => string | undefined,
  onProbe: (answers: readonly ServerResponse[]) => void = () => {},
) {
  const [answers, probes]: [ServerResponse[], ServerResponse[]] = [[], []]
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === '/metrics') {
      const text = metrics()
      response.writeHead(text === undefined ? 404 : 200).end(text)
    } else if (request.headers['x-heddle-probe'] === undefined) answers.push(response)
    else {
      probes.push(response)
      onProbe(answers)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = newAgent()
  const ended = new AbortController()
  opened.defer(async () => {
    ended.abort(new Error('the test is over'))
    await agent.destroy()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const replaced: string[] = []
  const connectionOf = createConnections({
    stallMs: STALL_MS,
    use: () => () => {},
    workspaceRoot: '',
    telemetry: NO_TELEMETRY,
  })
  const process = connectionOf({
    ready: { url: `http://127.0.0.1:${port}`, agent, headers: {}, servedModel: 'base' },
    isAlive: () => !ended.signal.aborted,
    ended: ended.signal,
    replace(reason) {
      replaced.push(reason)
      ended.abort(new Error(reason))
    },
    suspect() {},
  })
  return { process, answers, probes, replaced }
}

async function ask(process: InferenceProcess): Promise<string> {
  const reply = await process.post('/v1/chat/completions', '{}', new AbortController().signal)
  let text = ''
  await reply.read((chunk) => {
    text += Buffer.from(chunk).toString()
  })
  return text
}

describe('a vLLM that does not answer the prompt of a probe', () => {
  it('goes on while its counters of tokens rise', async () => {
    let tokens = 0
    const metricsOf = (): string =>
      `# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{engine="0"} ${++tokens}.0\n`
    const { process, answers, probes, replaced } = await startBusy(metricsOf)
    const asked = ask(process)
    await eventually(() => expect(probes.length).toBeGreaterThan(2))
    expect(replaced).toEqual([])
    answers[0]?.end('an answer')
    expect(await asked).toBe('an answer')
  })

  it('goes on while other answers arrive', async () => {
    const { process, answers, probes, replaced } = await startBusy(
      () => undefined,
      ([answer]) => answer?.write('.'),
    )
    const asked = ask(process)
    await eventually(() => expect(probes.length).toBeGreaterThan(2))
    expect(replaced).toEqual([])
    answers[0]?.end()
    expect(await asked).toMatch(/^\.{3,}$/)
  })

  it.each([
    ['its counters stand still', 'vllm:prompt_tokens_total{engine="0"} 5.0\n'],
    ['it has no counters', undefined],
  ])('is replaced where %s', async (_what, metrics) => {
    const { process, replaced } = await startBusy(() => metrics)
    await expect(ask(process)).rejects.toThrow('it hung: no token for 0.2 s')
    expect(replaced).toHaveLength(1)
  })
})
