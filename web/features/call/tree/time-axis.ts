/** The part of a trace's time that is in view, in milliseconds since 1970. */
export interface TimeView {
  from: number
  to: number
}

/** Nothing is shown in more detail than this many milliseconds. */
const VIEW_MS_MIN = 0.01

/** Zooms about one moment, within the whole. @param factor below 1 shows less time in more detail */
export function zoom(view: TimeView, whole: TimeView, at: number, factor: number): TimeView {
  const width = Math.min(
    Math.max((view.to - view.from) * factor, VIEW_MS_MIN),
    Math.max(whole.to - whole.from, VIEW_MS_MIN),
  )
  const share = (at - view.from) / (view.to - view.from || 1)
  return within({ from: at - share * width, to: at + (1 - share) * width }, whole)
}

/** Moves a view back into the whole without changing how much it shows. */
export function within({ from, to }: TimeView, whole: TimeView): TimeView {
  const width = to - from
  if (width >= whole.to - whole.from) return whole
  if (from < whole.from) return { from: whole.from, to: whole.from + width }
  if (to > whole.to) return { from: whole.to - width, to: whole.to }
  return { from, to }
}

/** A call with some air around it. */
export function aroundCall(from: number, to: number, whole: TimeView): TimeView {
  const air = Math.max((to - from) * 0.08, VIEW_MS_MIN)
  return within({ from: from - air, to: to + air }, whole)
}

export interface Bar {
  /** Percent of the width of the view. */
  left: number
  width: number
}

/** Where a span of time is in the view; undefined when it is outside. Never reaches out of the box. */
export function barOf(from: number, to: number, view: TimeView): Bar | undefined {
  const width = view.to - view.from || VIEW_MS_MIN
  if (to < view.from || from > view.to) return undefined
  const left = Math.max(0, ((from - view.from) / width) * 100)
  const right = Math.min(100, ((Math.max(from, to) - view.from) / width) * 100)
  return { left, width: Math.max(0, right - left) }
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Beyond half a minute round times are no powers of ten. */
const LONG_STEPS = [
  30 * SECOND,
  ...[1, 2, 5, 10, 15, 30].map((each) => each * MINUTE),
  ...[1, 2, 4, 8, 12, 24].map((each) => each * HOUR),
]
const SHORT_STEPS = [1, 2, 5, 10]

/** Round moments, in milliseconds from the start of the trace, that divide the view into at most `most` parts. */
export function ticks(view: TimeView, start: number, most: number): number[] {
  const width = view.to - view.from
  if (width <= 0 || most < 1) return []
  const step = roundStep(width / most)
  const first = Math.ceil((view.from - start) / step)
  const count = Math.floor((view.to - start) / step) - first + 1
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step)
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  if (rough <= 10 * SECOND) return power * (SHORT_STEPS.find((each) => each * power >= rough) ?? 10)
  return LONG_STEPS.find((each) => each >= rough) ?? Math.ceil(rough / (24 * HOUR)) * 24 * HOUR
}
