import { PAYLOADS } from '../sql/table.ts'

/**
 * Memory for the payloads of many calls, in few large pieces: a buffer for each would take a fifth more, and be garbage
 * once its call is evicted. Calls are evicted in about the order in which they were written, so whole slabs become
 * free, and are used again. Payloads of calls without an end will soon be written again with what the end has, so they
 * lie in slabs of their own.
 */
export interface PayloadSlabs {
  /**
   * Copies the payloads of a call, JSON texts in UTF-8 in the order of `PAYLOADS`; one that it does not have is empty.
   */
  write(payloads: readonly (string | Buffer)[], of: { isEnded: boolean }): Place
  /** Gives up what was written there. */
  free(place: Place): void
  /** Memory that all take. */
  bytes(): number
}

/** Where the payloads of a call are: their sizes, and then their bytes. */
export interface Place {
  slab: Slab
  at: number
}

interface Slab {
  bytes: Buffer
  used: number
  /** Calls whose payloads are in it. */
  calls: number
}

/** Bytes of a slab: an eighth of all, so that little of it is wasted where a project has few calls. */
const SLAB_BYTES_MIN = 4 * 1024
const SLAB_BYTES_MAX = 1024 * 1024
const SLABS = 8

const SIZE_BYTES = 4
const HEADER_BYTES = SIZE_BYTES * PAYLOADS.length

export function createPayloadSlabs(): PayloadSlabs {
  /** The slabs that are being filled. */
  const current: { open?: Slab | undefined; ended?: Slab | undefined } = {}
  /** A slab to be used next. */
  let spare: Buffer | undefined
  let bytes = 0
  let calls = 0

  function slabFor(kind: 'open' | 'ended', size: number): Slab {
    const last = current[kind]
    if (last !== undefined && last.bytes.length - last.used >= size) return last
    if (last?.calls === 0) giveUp(last.bytes)
    const isLargeEnough = spare !== undefined && spare.length >= Math.max(size, slabBytes(bytes))
    if (!isLargeEnough) dropSpare()
    const slab = { bytes: spare ?? allocate(Math.max(size, slabBytes(bytes))), used: 0, calls: 0 }
    spare = undefined
    current[kind] = slab
    return slab
  }

  function allocate(size: number): Buffer {
    bytes += size
    return Buffer.allocUnsafeSlow(size)
  }

  function giveUp(slab: Buffer): void {
    dropSpare()
    spare = slab
  }

  function dropSpare(): void {
    bytes -= spare?.length ?? 0
    spare = undefined
  }

  return {
    write(payloads, { isEnded }) {
      const sizes = payloads.map((payload) => Buffer.byteLength(payload))
      const size = sizes.reduce((sum, bytesOfOne) => sum + bytesOfOne, HEADER_BYTES)
      const slab = slabFor(isEnded ? 'ended' : 'open', size)
      const place = { slab, at: slab.used }
      for (const size of sizes) slab.used = slab.bytes.writeUInt32LE(size, slab.used)
      for (const payload of payloads)
        slab.used +=
          typeof payload === 'string'
            ? slab.bytes.write(payload, slab.used)
            : payload.copy(slab.bytes, slab.used)
      slab.calls++
      calls++
      return place
    },
    free({ slab }) {
      slab.calls--
      calls--
      if (calls === 0) {
        current.open = undefined
        current.ended = undefined
        spare = undefined
        bytes = 0
      } else if (slab.calls === 0) {
        if (slab === current.open || slab === current.ended) slab.used = 0
        else giveUp(slab.bytes)
      }
    },
    bytes: () => bytes,
  }
}

function slabBytes(all: number): number {
  const share = 2 ** Math.floor(Math.log2(Math.max(1, all / SLABS)))
  return Math.min(SLAB_BYTES_MAX, Math.max(SLAB_BYTES_MIN, share))
}

/** The payloads at a place, as they were written; valid until they are freed. */
export function payloadsAt({ slab, at }: Place): Buffer[] {
  let end = at + HEADER_BYTES
  return PAYLOADS.map((_, index) => {
    const from = end
    end += slab.bytes.readUInt32LE(at + index * SIZE_BYTES)
    return slab.bytes.subarray(from, end)
  })
}
