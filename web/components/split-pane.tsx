import { type ReactNode, useRef } from 'react'
import { classNames } from './class-names.ts'
import { useRememberedNumber } from './remembered.ts'

const STEP_PERCENT = 4

interface ResizeHandleProps {
  label: string
  /** Percent of the whole that the part before the handle takes. */
  value: number
  min: number
  max: number
  onChange: (value: number) => void
  /** The element whose width is the whole. */
  whole: () => HTMLElement | null
}

/** The line between two parts: dragged, or moved by arrow keys. */
export function ResizeHandle({ label, value, min, max, onChange, whole }: ResizeHandleProps) {
  const set = (next: number) => onChange(Math.min(max, Math.max(min, next)))
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved, this can
    <div
      role="separator"
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      className="relative z-10 -mx-1 w-2 shrink-0 cursor-col-resize touch-none before:absolute before:inset-y-0 before:left-[3.5px] before:w-px before:bg-hair hover:before:bg-focus focus-visible:before:bg-focus"
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') set(value - STEP_PERCENT)
        else if (event.key === 'ArrowRight') set(value + STEP_PERCENT)
        else return
        event.preventDefault()
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        const box = whole()?.getBoundingClientRect()
        if (box !== undefined && event.currentTarget.hasPointerCapture(event.pointerId))
          set(((event.clientX - box.left) / box.width) * 100)
      }}
    />
  )
}

interface SplitPaneProps {
  /** Names the handle, and what is remembered. */
  name: string
  first: ReactNode
  second: ReactNode
  /** Percent of the first part until a person moves it. */
  initial?: number
  className?: string
}

/** Two parts side by side with a handle between them; below each other on a phone. */
export function SplitPane({ name, first, second, initial = 40, className }: SplitPaneProps) {
  const [percent, setPercent] = useRememberedNumber(`split.${name}`, initial)
  const whole = useRef<HTMLDivElement>(null)
  return (
    <div ref={whole} className={classNames('flex min-h-0 min-w-0 flex-1 max-md:flex-col', className)}>
      <div
        className="flex min-h-0 min-w-0 flex-col max-md:!w-full max-md:flex-1"
        style={{ width: `${percent}%` }}
      >
        {first}
      </div>
      <div className="flex max-md:hidden">
        <ResizeHandle
          label={`Resize ${name}`}
          value={percent}
          min={15}
          max={85}
          onChange={setPercent}
          whole={() => whole.current}
        />
      </div>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col max-md:border-t max-md:border-hair">{second}</div>
    </div>
  )
}
