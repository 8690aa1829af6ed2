const BAR_WIDTH = 24
const FRAME_MS = 200

/** One line that says what is done, how much of it and for how long. */
export interface Progress {
  /** Begins a step of so many; `total` is how often it will advance, 0 where that is unknown. */
  step(index: number, steps: number, total: number): void
  advance(): void
  /** A word on what is being done now. */
  show(detail: string): void
  done(): void
  failed(): void
}

/** Shows progress on stderr: redrawn on a terminal, and printed at the start and the end elsewhere. */
export function showProgress(what: string): Progress {
  const { stderr } = process
  const started = Date.now()
  const state = { index: 0, steps: 1, total: 0, count: 0, detail: '' }
  const seconds = (): string => `${Math.round((Date.now() - started) / 1000)} s`

  function draw(): void {
    const share = state.total > 0 ? Math.min(state.count / state.total, 1) : 0
    const filled = Math.round(share * BAR_WIDTH)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
    const amount = state.total > 0 ? `${Math.min(state.count, state.total)}/${state.total}` : ''
    const line = `${what} ${bar} step ${state.index}/${state.steps} ${amount} ${seconds()} ${state.detail}`
    stderr.write(`\r\x1b[K${line.slice(0, (stderr.columns ?? 100) - 1)}`)
  }

  const timer = stderr.isTTY ? setInterval(draw, FRAME_MS) : undefined
  if (!stderr.isTTY) stderr.write(`${what} …\n`)

  function end(word: string): void {
    clearInterval(timer)
    stderr.write(`${stderr.isTTY ? '\r\x1b[K' : ''}${what}: ${word} after ${seconds()}\n`)
  }

  return {
    step(index, steps, total) {
      Object.assign(state, { index, steps, total, count: 0, detail: '' })
    },
    advance() {
      state.count++
    },
    show(detail) {
      state.detail = detail
    },
    done: () => end('ready'),
    failed: () => end('failed'),
  }
}
