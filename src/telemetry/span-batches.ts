import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace'

export interface SpanBatchesOptions {
  /** Spans that wait; further ones are lost. */
  spansMax: number
  batchMax: number
  /** How long a span waits for others. */
  waitMs: number
  /** Sends a batch; never rejects. */
  deliver: (batch: ReadableSpan[]) => Promise<void>
  /** Called with the number of spans that found no room. */
  onFull: (count: number) => void
}

/** Collects ended spans, and delivers one batch after the other. */
export function createSpanBatches(options: SpanBatchesOptions): SpanProcessor {
  const { spansMax, batchMax, waitMs, deliver, onFull } = options
  let waiting: ReadableSpan[] = []
  let timer: NodeJS.Timeout | undefined
  let delivering: Promise<void> | undefined
  let isShut = false

  async function deliverAll(atLeast: number): Promise<void> {
    while (waiting.length >= atLeast) {
      const batch = waiting.slice(0, batchMax)
      waiting = waiting.slice(batchMax)
      await deliver(batch)
    }
  }

  /** Delivers full batches, and what has waited long enough. */
  function begin(atLeast: number): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    delivering ??= deliverAll(atLeast).finally(() => {
      delivering = undefined
      if (waiting.length > 0 && !isShut) schedule()
    })
    return delivering
  }

  function schedule(): void {
    if (delivering !== undefined) return
    if (waiting.length >= batchMax) void begin(batchMax)
    else timer ??= setTimeout(() => void begin(1), waitMs).unref()
  }

  async function flush(): Promise<void> {
    await delivering
    await begin(1)
  }

  return {
    onStart: () => undefined,
    onEnd(span) {
      if (isShut) return
      if (waiting.length >= spansMax) return onFull(1)
      waiting.push(span)
      schedule()
    },
    forceFlush: flush,
    async shutdown() {
      isShut = true
      await flush()
    },
  }
}
