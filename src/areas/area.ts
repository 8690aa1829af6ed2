import type { Route } from '../http/route.ts'

/** A part of the product, composed of its resources. */
export interface Area {
  /** Its endpoints. */
  routes: Route[]
  /** Starts its work besides requests, which disposal ends. */
  start?(): Promise<AsyncDisposable>
}
