import { tooLarge } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'

/** Reports have some kilobytes; more is not read. */
const REPORT_BYTES_MAX = 4 * 1024 * 1024

/** Other requests of W&B clients. */
export interface Sdk {
  /** Wire: clients send telemetry here. It is not used, so it is read and dropped. */
  takeReport(req: { stream: ReadableStream<Uint8Array> }): Promise<RawReply>
}

export function createSdk(): Sdk {
  async function takeReport({ stream }: { stream: ReadableStream<Uint8Array> }): Promise<RawReply> {
    let bytes = 0
    for await (const chunk of stream) {
      bytes += chunk.byteLength
      if (bytes > REPORT_BYTES_MAX) throw tooLarge(`The limit is ${REPORT_BYTES_MAX} bytes`)
    }
    // An empty message means that everything was accepted.
    return { headers: { 'content-type': 'application/x-protobuf' }, body: '' }
  }

  return { takeReport }
}
