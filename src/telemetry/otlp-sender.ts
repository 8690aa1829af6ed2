import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Agent, request } from 'undici'
import type { OtlpDestination } from '../settings/telemetry-setting.ts'
import { VERSION } from '../version.ts'

const compressed = promisify(gzip)

/**
 * How exports of Heddle name themselves; a server records no spans of requests that do, or its own exports would be
 * work to report.
 */
export const EXPORTER_AGENT = `heddle-telemetry/${VERSION}`

/** Whether a request is an export of the telemetry of a Heddle server, this one or another. */
export function isExport(userAgent: string | undefined): boolean {
  return userAgent?.startsWith('heddle-telemetry/') === true
}

/** Statuses that OTLP has repeated: https://opentelemetry.io/docs/specs/otlp/#failures-1 */
const REPEATED = new Set([429, 502, 503, 504])

/** Between attempts, in ms; a collector that restarts is back within seconds. */
const PAUSE_MS = 1_000

/** The reply has one message of the collector; what is longer is not one. */
const REPLY_BYTES_MAX = 64 * 1024

/** Spans and metrics are sent one batch after the other. */
const CONNECTIONS_MAX = 1

/** Sends batches to one address of a collector. */
export interface OtlpSender extends AsyncDisposable {
  /**
   * Posts a serialized batch, again where the collector asks for it, and resolves with its reply.
   * @throws Error with a reason for people, at the latest when the time of an export is over
   */
  send(batch: Uint8Array): Promise<Uint8Array>
}

/** @param stopping once aborted, nothing is sent any more */
export function createOtlpSender(
  { url, headers, timeoutMs, compression, ca }: OtlpDestination,
  stopping: AbortSignal,
): OtlpSender {
  const agent = new Agent({ connections: CONNECTIONS_MAX, ...(ca !== undefined && { connect: { ca } }) })
  const sent = {
    ...headers,
    'content-type': 'application/x-protobuf',
    'user-agent': EXPORTER_AGENT,
    ...(compression === 'gzip' && { 'content-encoding': 'gzip' }),
  }

  async function post(body: Uint8Array, signal: AbortSignal): Promise<Uint8Array | 'again'> {
    const reply = await request(url, { method: 'POST', headers: sent, body, signal, dispatcher: agent })
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > REPLY_BYTES_MAX) throw new Error(`it answers with more than ${REPLY_BYTES_MAX} bytes`)
      chunks.push(chunk)
    }
    if (reply.statusCode >= 200 && reply.statusCode < 300) return Buffer.concat(chunks)
    if (REPEATED.has(reply.statusCode)) return 'again'
    throw new Error(`it answers ${reply.statusCode}`)
  }

  return {
    async send(batch) {
      const late = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([stopping, late])
      let reason = `no answer within ${timeoutMs / 1000} s`
      try {
        const body = compression === 'gzip' ? await compressed(batch) : batch
        for (;;) {
          const reply = await post(body, signal)
          if (reply !== 'again') return reply
          reason = 'it is too busy'
          await delay(PAUSE_MS, undefined, { signal, ref: false })
        }
      } catch (error) {
        if (late.aborted) throw new Error(reason, { cause: error })
        throw error
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}
