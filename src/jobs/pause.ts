export interface Pause {
  /**
   * Resolves after `ms` milliseconds, or once {@link wake} is called; at once if it was called since the last pause.
   */
  wait(ms: number): Promise<void>
  wake(): void
}

/** A pause of one loop that can be ended early. */
export function createPause(): Pause {
  let isWoken = false
  let end: (() => void) | undefined
  return {
    async wait(ms) {
      if (!isWoken) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms).unref()
        end = resolve
        await promise
        clearTimeout(timer)
        end = undefined
      }
      isWoken = false
    },
    wake() {
      isWoken = true
      end?.()
    },
  }
}
