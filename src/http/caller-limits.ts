import type { QueryLimits } from '../query-limits.ts'

/** Limits of callers and their entities, which `accounts/` knows. */
export interface CallerLimits {
  /** One request of a caller. */
  open(caller: { keyId: string }): RequestLimits
}

/** What the limits say about one request. */
export interface RequestLimits {
  /** Counts it for its key, before its body is read. @throws 429 */
  begin(): void
  /** Bytes that its body may have; bodies that are read as streams have limits of their own. */
  readonly bodyBytesMax: number
  /**
   * Counts it for an entity that it is about, once however often this is called.
   * @param bytes of its body
   * @throws 429; 413 for a larger body than the entity may send
   */
  forEntity(entity: string, bytes?: number): void
  /** Counts bytes that an entity is about to store. @throws 402 where it has no room */
  stores(entity: string, bytes: number): void
  /** Counts the bytes of an upload whose size is not known in advance. */
  uploads(entity: string): CountedBytes
  /** Of its queries, as far as the entities that it is about are known. */
  queries(): QueryLimits | undefined
  /** Adds a header to the reply, also where that is a refusal. Its value is ASCII: headerText of src/header-text.ts. */
  setHeader(name: string, value: string): void
  /** What the reply says about the limits. */
  headers(): Record<string, string>
}

/** Bytes of one upload, counted for the storage of an entity. */
export interface CountedBytes {
  /** @throws 402 where the entity has no room for them */
  add(bytes: number): void
  /** Takes back what was counted, of an upload that failed. */
  takeBack(): void
}

/** Of a server whose callers have no limits. */
export const NO_CALLER_LIMITS: CallerLimits = {
  open() {
    const headers: Record<string, string> = {}
    return {
      begin: () => {},
      bodyBytesMax: Number.POSITIVE_INFINITY,
      forEntity: () => {},
      stores: () => {},
      uploads: () => ({ add: () => {}, takeBack: () => {} }),
      queries: () => undefined,
      setHeader(name, value) {
        headers[name] = value
      },
      headers: () => headers,
    }
  },
}
