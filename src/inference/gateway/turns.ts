/** Takes turns between those who wait. */
export interface Turns {
  /** Waits for a place; the function it returns gives the place back. @throws the signal's reason. */
  take(group: string, signal: AbortSignal): Promise<() => void>
}

interface Waiting {
  start: () => void
}

/**
 * At most `places` at once; when one becomes free, the groups that wait are served in rotation, each in its own order:
 * a group with a thousand requests does not hold up another's first.
 */
export function createTurns(places: number): Turns {
  let free = places
  // The group that was served last is the last key.
  const queues = new Map<string, Waiting[]>()

  function release(): void {
    free++
    const next = queues.entries().next()
    if (next.done) return
    const [group, queue] = next.value
    const first = queue.shift()
    queues.delete(group)
    if (queue.length > 0) queues.set(group, queue)
    first?.start()
  }

  function place(): () => void {
    free--
    let isHeld = true
    return () => {
      if (isHeld) release()
      isHeld = false
    }
  }

  return {
    async take(group, signal) {
      signal.throwIfAborted()
      if (free > 0) return place()
      return new Promise((resolve, reject) => {
        const queue = queues.get(group) ?? []
        queues.set(group, queue)
        const waiting: Waiting = {
          start() {
            signal.removeEventListener('abort', leave)
            resolve(place())
          },
        }
        function leave(): void {
          queue.splice(queue.indexOf(waiting), 1)
          if (queue.length === 0) queues.delete(group)
          reject(signal.reason)
        }
        queue.push(waiting)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
