import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { noteNoAnswer, untilOnline } from '../api/connection.ts'

/** A chunk that a reachable server does not have is gone: the server runs another build. */
const TRIES_MAX = 4
const PAUSE_MS = 1_000

/**
 * Loads a part of the program, such as `() => import('./page.tsx')`. While the server is unreachable it waits.
 * @throws the browser's error, when a reachable server does not have it.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let tries = 1; ; tries++) {
    try {
      return await load()
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      noteNoAnswer()
      await new Promise((wake) => setTimeout(wake, PAUSE_MS))
      await untilOnline()
    }
  }
}

/** A component that is loaded when it is first shown, by {@link loadPart}. */
export function lazyPart<Props>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await loadPart(load) }))
}
