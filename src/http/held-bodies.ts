import { unavailable } from '../errors.ts'

/** Bytes of bodies that all requests together may hold; what is made of them takes a few times as much memory. */
const HELD_BYTES_MAX = 512 * 1024 * 1024

/** Bytes of bodies that the requests of one key may hold, so that room remains for those of others. */
const HELD_BYTES_OF_KEY_MAX = 384 * 1024 * 1024

/** A body that is sent without pauses arrives within this; a slower one is refused first when room is short. */
const PROMPT_MS = 2_000

/** The bodies that one server holds in memory. */
export interface HeldBodies {
  /** The body of one request, empty until its bytes arrive. */
  open(keyId: string): HeldBody
}

/** What one request holds. */
export interface HeldBody {
  /** The first bytes arrive; `refuse` is called when the body is no longer wanted. */
  begin(refuse: (error: Error) => void): void
  /** Some bytes have arrived. @throws 503 when there is no room for them. */
  hold(bytes: number): void
  /** How many have arrived. */
  bytes(): number
  /** No more will come. */
  end(): void
  release(): void
}

/** A body that is arriving. */
interface Arriving {
  since: number
  keyId: string
  own: number
  refuse: (error: Error) => void
}

/**
 * Bounds what bodies take together: each is counted as its bytes arrive, and until its request has been answered. The
 * announced length does not count. When room is short, bodies that arrive slowly are refused first, so that occupying
 * it costs an attacker as much as sending it again and again.
 */
export function createHeldBodies(): HeldBodies {
  let held = 0
  const ofKeys = new Map<string, number>()
  const arriving = new Set<Arriving>()

  function add(bytes: number, keyId: string): void {
    held += bytes
    const ofKey = (ofKeys.get(keyId) ?? 0) + bytes
    if (ofKey === 0) ofKeys.delete(keyId)
    else ofKeys.set(keyId, ofKey)
  }

  function give(body: Arriving): void {
    if (body.own > 0) add(-body.own, body.keyId)
    body.own = 0
  }

  /** Refuses slow bodies, the oldest first, until there is room. @throws 503 when that does not free enough. */
  function makeRoom(bytes: number, keyId: string): void {
    const isKeyFull = () => (ofKeys.get(keyId) ?? 0) + bytes > HELD_BYTES_OF_KEY_MAX
    const isFull = () => held + bytes > HELD_BYTES_MAX
    const now = performance.now()
    for (const body of arriving) {
      if (now - body.since < PROMPT_MS || !(isFull() || isKeyFull())) break
      if (body.own === 0 || (!isFull() && body.keyId !== keyId)) continue
      arriving.delete(body)
      give(body)
      body.refuse(unavailable('The body arrived slowly, and its room was needed for others', 2))
    }
    if (isFull()) throw unavailable('Too many large requests are being answered', 2)
    if (isKeyFull()) throw unavailable('Too many large requests of this key are being answered', 2)
  }

  function open(keyId: string): HeldBody {
    const body: Arriving = { since: performance.now(), keyId, own: 0, refuse: () => {} }
    return {
      begin(refuse) {
        body.refuse = refuse
        arriving.add(body)
      },
      hold(bytes) {
        if (held + bytes > HELD_BYTES_MAX || (ofKeys.get(keyId) ?? 0) + bytes > HELD_BYTES_OF_KEY_MAX)
          makeRoom(bytes, keyId)
        add(bytes, keyId)
        body.own += bytes
      },
      bytes: () => body.own,
      end: () => void arriving.delete(body),
      release() {
        arriving.delete(body)
        give(body)
      },
    }
  }

  return { open }
}
