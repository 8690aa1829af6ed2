import type { Route } from '../http/route.ts'
import type { Removal } from '../removal.ts'

/** A part of the product, composed of its resources. */
export interface Area {
  /** Its endpoints. */
  routes: Route[]
  /** What of its data can be removed for good. */
  removals?: Removal[]
  /** Bytes that an entity stores here. */
  storedBy?: (entity: string) => Promise<number>
  /** Starts its work besides requests, which disposal ends. */
  start?(): Promise<AsyncDisposable>
}
