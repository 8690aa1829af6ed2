/** How long frames take while something happens in a page, and how much of that the page itself works. */

/** A frame that people notice. */
const SLOW_MS = 50

/** Tasks of the main thread, and the parts of drawing in them. */
const CATEGORIES = ['toplevel', 'devtools.timeline', 'blink.user_timing']
const TASKS = new Set(['RunTask', 'ThreadControllerImpl::RunTask'])
const DRAWING = new Set(['UpdateLayoutTree', 'Layout', 'PrePaint', 'Paint', 'Layerize', 'Commit'])

/** The page marks its clock with this, so that the browser's trace can be laid beside its frames. */
const MARK = 'frames begin'

/**
 * The frames of an act: how many, the time that one in twenty exceeds, the longest, and those that people notice. Of
 * each of these, and of the frame with most, how many milliseconds the page's main thread worked: the time that a
 * processor gave it, so that waiting for one, which is the machine's doing, does not count.
 */
export async function framesDuring(page, act) {
  const browser = page.context().browser()
  await browser.startTracing(page, { categories: CATEGORIES })
  await page.evaluate(sampleFrames, MARK)
  await act()
  const frames = await page.evaluate(() => window.endFrames())
  const { traceEvents } = JSON.parse(await browser.stopTracing())
  const worked = workOf(traceEvents, frames)
  const times = frames.map(({ ms }) => ms).toSorted((a, b) => a - b)
  return {
    frames: times.length,
    p95: times[Math.floor(times.length * 0.95)],
    max: times.at(-1),
    slow: worked.filter(({ ms }) => ms > SLOW_MS),
    slowByOwnWork: worked.filter(({ ownMs }) => ownMs > SLOW_MS).length,
    ownMsMax: Math.max(...worked.map(({ ownMs }) => ownMs)),
  }
}

/** What the main thread did in each frame: `ownMs` on a processor, `drawingMs` of them for style, layout and paint. */
function workOf(events, frames) {
  const mark = events.find(({ name }) => name === MARK)
  const onMain = events
    .filter(({ pid, tid, ph, tdur }) => pid === mark.pid && tid === mark.tid && ph === 'X' && tdur > 0)
    .sort((a, b) => a.ts - b.ts)
  const tasks = outermost(onMain.filter(({ name }) => TASKS.has(name)))
  if (tasks.length === 0) throw new Error('The trace of the browser tells no tasks')
  const drawing = outermost(onMain.filter(({ name }) => DRAWING.has(name)))
  const clock = ({ ts }) => frames[0].zero + (ts - mark.ts) / 1000
  const within = (list, from, to) =>
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
function outermost(events) {
  let end = 0
  return events.filter(({ ts, dur }) => {
    if (ts < end) return false
    end = ts + dur
    return true
  })
}

/** Runs in the page. */
function sampleFrames(mark) {
  const zero = performance.mark(mark).startTime
  const frames = []
  let last
  let isOn = true
  const look = (now) => {
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
