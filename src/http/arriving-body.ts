import type { Readable } from 'node:stream'
import { ClientError, clientGone, tooLarge, tooSlow } from '../errors.ts'
import type { HeldBody } from './held-bodies.ts'

/** How much of a body may be read. */
export interface BodyLimits {
  /** Of this one. */
  bytesMax: number
  held: HeldBody
}

/** A body that is read whole must bring {@link WINDOW_BYTES_MIN} in each of these, or its end. */
const WINDOW_MS = 20_000

/**
 * 16 KiB a second, which is less than any line that training or tracing is done over; a batch of 32 MiB takes half an
 * hour.
 */
const WINDOW_BYTES_MIN = (16 * 1024 * WINDOW_MS) / 1000

/**
 * An upload that is read as a stream may take hours, and pause for this long: the client may be preparing the next
 * part.
 */
const STREAM_IDLE_MS = 5 * 60_000

/** Reads a whole body, counting each part as it arrives. @throws 408, 413, 503, or 499 when the client goes. */
export function readArriving(source: Readable, { bytesMax, held }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let sizeBefore = 0
    const idleTimer = setTimeout(() => setImmediate(look), WINDOW_MS)
    held.begin(fail)
    if (hasBroken(source)) return gone()
    source.on('data', take).once('end', finish).once('error', fail).once('close', gone)

    function take(chunk: Buffer): void {
      size += chunk.byteLength
      try {
        if (size > bytesMax) throw bodyTooLarge(bytesMax)
        held.hold(chunk.byteLength)
        chunks.push(chunk)
      } catch (error) {
        fail(error)
      }
    }

    // After the immediate, so that bytes which arrived while this thread was busy have been counted.
    function look(): void {
      const bytes = size - sizeBefore
      sizeBefore = size
      if (bytes >= WINDOW_BYTES_MIN) idleTimer.refresh()
      else
        fail(
          tooSlow(
            `The body arrived too slowly: ${bytes} bytes in ${WINDOW_MS / 1000} s, and ${WINDOW_BYTES_MIN} are needed`,
          ),
        )
    }

    function finish(): void {
      leave()
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size))
    }

    function fail(error: unknown): void {
      leave()
      chunks.length = 0
      reject(asFailure(error))
    }

    function gone(): void {
      fail(clientGone())
    }

    function leave(): void {
      clearTimeout(idleTimer)
      held.end()
      source.off('data', take).off('end', finish).off('error', fail).off('close', gone)
      // An error that nothing listens to would end the process.
      source.on('error', () => {})
    }
  })
}

/** Whether a body broke off; no error is reported for it any more. */
function hasBroken(source: Readable): boolean {
  return source.destroyed && !source.readableEnded
}

/**
 * A body that its service reads as a stream, with backpressure; it fails with 408 when its client is silent for too
 * long.
 */
export function streamArriving(source: Readable): ReadableStream<Uint8Array> {
  let leave: (() => void) | undefined
  return new ReadableStream<Uint8Array>(
    {
      // A body that the service never reads is discarded when the request ends.
      pull(controller) {
        leave ??= follow(source, controller)
        source.resume()
      },
      cancel() {
        leave?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Hands on one chunk per request for one, until the returned function is called. */
function follow(source: Readable, controller: ReadableStreamDefaultController<Uint8Array>): () => void {
  let hasArrived = false
  const idleTimer = setTimeout(() => setImmediate(look), STREAM_IDLE_MS)
  if (hasBroken(source)) gone()
  else source.on('data', take).once('end', finish).once('error', fail).once('close', gone)

  function take(chunk: Buffer): void {
    hasArrived = true
    source.pause()
    controller.enqueue(chunk)
  }

  function look(): void {
    // A paused source waits for this server, so its silence does not count.
    if (hasArrived || source.isPaused()) idleTimer.refresh()
    else fail(tooSlow(`Nothing of the body arrived for ${STREAM_IDLE_MS / 1000} s`))
    hasArrived = false
  }

  function finish(): void {
    leave()
    controller.close()
  }

  function fail(error: unknown): void {
    leave()
    controller.error(asFailure(error))
  }

  function gone(): void {
    fail(clientGone())
  }

  function leave(): void {
    clearTimeout(idleTimer)
    source.off('data', take).off('end', finish).off('error', fail).off('close', gone)
    source.on('error', () => {})
  }
  return leave
}

/** The words for a body over its limit. */
export function bodyTooLarge(bytesMax: number): Error {
  return tooLarge(`Request too large: the limit is ${bytesMax} bytes; send less at once`)
}

/** A source fails by itself only when its client disconnects. */
function asFailure(error: unknown): Error {
  if (error instanceof ClientError) return error
  const { code } = error as { code?: unknown }
  return code === 'ECONNRESET' ? clientGone() : (error as Error)
}
