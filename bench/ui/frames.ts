/** How long frames take while something happens in a page, and how much of that the page itself works. */
import type { Page } from '@playwright/test'
import { z } from 'zod'

/** A frame, and how many of its milliseconds the main thread of the page worked. */
export interface Frame {
  ms: number
  /** On a processor. */
  ownMs: number
  /** Of those, for style, layout and paint. */
  drawingMs: number
}

/** The frames of an act; milliseconds. */
export interface Frames {
  frames: number
  /** One in twenty takes longer. */
  p95: number
  max: number
  /** Those that people notice. */
  slow: Frame[]
  /** How many of them take as long by the work of the page alone. */
  slowByOwnWork: number
  ownMsMax: number
}

/** A frame as the page has seen it, in milliseconds of its clock. */
interface SeenFrame {
  ms: number
  /** When it ended. */
  at: number
  /** When watching began. */
  zero: number
}

declare global {
  interface Window {
    endFrames(): SeenFrame[]
  }
}

/** An event of the browser's trace, in microseconds: `tdur` on a processor of `dur` in all. */
const TraceEvent = z.object({
  name: z.string(),
  pid: z.number(),
  tid: z.number(),
  ph: z.string(),
  ts: z.number(),
  dur: z.number().default(0),
  tdur: z.number().default(0),
})
type TraceEvent = z.output<typeof TraceEvent>
const Trace = z.object({ traceEvents: z.array(TraceEvent) })

/** A frame that people notice. */
const SLOW_MS = 50

/** Tasks of the main thread, and the parts of drawing in them. */
const CATEGORIES = ['toplevel', 'devtools.timeline', 'blink.user_timing']
const TASKS = new Set(['RunTask', 'ThreadControllerImpl::RunTask'])
const DRAWING = new Set(['UpdateLayoutTree', 'Layout', 'PrePaint', 'Paint', 'Layerize', 'Commit'])

/** The page marks its clock with this, so that the browser's trace can be laid beside its frames. */
const MARK = 'frames begin'

/**
 * The frames of an act. What the main thread of the page works is the time that a processor gave it, so that waiting
 * for one, which is the machine's doing, does not count.
 */
export async function framesDuring(page: Page, act: () => Promise<void>): Promise<Frames> {
  const browser = page.context().browser()
  if (browser === null) throw new Error('The page has no browser of its own')
  await browser.startTracing(page, { categories: CATEGORIES })
  await page.evaluate(sampleFrames, MARK)
  await act()
  const frames = await page.evaluate(() => window.endFrames())
  const { traceEvents } = Trace.parse(JSON.parse((await browser.stopTracing()).toString()))
  const worked = workOf(traceEvents, frames)
  const times = frames.map(({ ms }) => ms).toSorted((a, b) => a - b)
  return {
    frames: times.length,
    p95: times[Math.floor(times.length * 0.95)] ?? Number.NaN,
    max: times.at(-1) ?? Number.NaN,
    slow: worked.filter(({ ms }) => ms > SLOW_MS),
    slowByOwnWork: worked.filter(({ ownMs }) => ownMs > SLOW_MS).length,
    ownMsMax: Math.max(...worked.map(({ ownMs }) => ownMs)),
  }
}

function workOf(events: readonly TraceEvent[], frames: readonly SeenFrame[]): Frame[] {
  const mark = events.find(({ name }) => name === MARK)
  const [first] = frames
  if (mark === undefined || first === undefined) throw new Error('The browser has recorded no frames')
  const onMain = events
    .filter(({ pid, tid, ph, tdur }) => pid === mark.pid && tid === mark.tid && ph === 'X' && tdur > 0)
    .sort((a, b) => a.ts - b.ts)
  const tasks = outermost(onMain.filter(({ name }) => TASKS.has(name)))
  if (tasks.length === 0) throw new Error('The trace of the browser tells no tasks')
  const drawing = outermost(onMain.filter(({ name }) => DRAWING.has(name)))
  const clock = ({ ts }: TraceEvent): number => first.zero + (ts - mark.ts) / 1000
  const within = (list: readonly TraceEvent[], from: number, to: number): number =>
    list.reduce((sum, event) => {
      const start = clock(event)
      const end = start + event.dur / 1000
      const shared = Math.max(0, Math.min(end, to) - Math.max(start, from))
      return sum + (shared / (end - start || 1)) * (event.tdur / 1000)
    }, 0)
  return frames.map(({ ms, at }) => ({
    ms,
    ownMs: within(tasks, at - ms, at),
    drawingMs: within(drawing, at - ms, at),
  }))
}

/** What is within another is counted with it. */
function outermost(events: readonly TraceEvent[]): TraceEvent[] {
  let end = 0
  return events.filter(({ ts, dur }) => {
    if (ts < end) return false
    end = ts + dur
    return true
  })
}

/** Runs in the page. */
function sampleFrames(mark: string): void {
  const zero = performance.mark(mark).startTime
  const frames: SeenFrame[] = []
  let last: number | undefined
  let isOn = true
  const look = (now: number): void => {
    if (last !== undefined) frames.push({ ms: now - last, at: now, zero })
    last = now
    if (isOn) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
  window.endFrames = () => {
    isOn = false
    return frames
  }
}
