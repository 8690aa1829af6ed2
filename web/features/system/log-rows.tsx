import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useLayoutEffect, useRef } from 'react'
import { classNames } from '../../components/class-names.ts'
import { exactTime } from '../../components/format.ts'
import { runsOf } from './ansi.ts'
import type { LogLine } from './log-lines.ts'

const ROW_PX = 18

/** Distance from the end that counts as the end: browsers round scroll positions. */
const END_PX = 4

interface LogRowsProps {
  label: string
  lines: readonly LogLine[]
  isFollowing: boolean
  /** Scrolling up stops following, and scrolling down to the end begins it again. */
  onFollow: (isFollowing: boolean) => void
}

/** The lines in view; knows the virtualizer and hands plain props on. */
export function LogRows({ label, lines, isFollowing, onFollow }: LogRowsProps) {
  'use no memo'
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const last = lines.at(-1)?.number
  useLayoutEffect(() => {
    const element = scroller.current
    if (isFollowing && element !== null && last !== undefined) element.scrollTop = element.scrollHeight
  }, [isFollowing, last])
  return (
    <div
      ref={scroller}
      role="log"
      aria-live="off"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keys
      tabIndex={0}
      className="thin-scroll h-80 overflow-auto rounded-md border border-hair bg-inset font-mono text-2xs"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        const isAtEnd = scrollHeight - scrollTop - clientHeight <= END_PX
        if (isAtEnd !== isFollowing) onFollow(isAtEnd)
      }}
    >
      <div className="relative min-w-full" style={{ height: lines.length * ROW_PX }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const line = lines[index]
          return line && <Row key={line.number} line={line} top={start} />
        })}
      </div>
    </div>
  )
}

/** By their numbers in terminals; black and white are the text's own colour, whatever the theme. */
const COLORS: Record<number, string> = {
  1: 'text-error',
  2: 'text-json-text',
  3: 'text-warn',
  4: 'text-link',
  5: 'text-json-key',
  6: 'text-json-number',
}

const Row = memo(function Row({ line, top }: { line: LogLine; top: number }) {
  return (
    <div
      className={classNames('absolute top-0 left-0 flex h-4.5 gap-3 px-2 whitespace-pre', inkOf(line.text))}
      style={{ transform: `translateY(${top}px)` }}
    >
      {line.at !== undefined && (
        <time dateTime={line.at} title={exactTime(line.at)} className="text-muted">
          {CLOCK.format(new Date(line.at))}
        </time>
      )}
      <span>
        {runsOf(line.text).map(({ text, color, isBold }, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: a run is its place
            key={index}
            className={classNames(color !== undefined && COLORS[color], isBold && 'font-strong')}
          >
            {text}
          </span>
        ))}
      </span>
    </div>
  )
})

const CLOCK = new Intl.DateTimeFormat('sv', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Of lines that say how bad they are. */
function inkOf(text: string): string {
  if (/\b(ERROR|CRITICAL|FATAL)\b|^\w*(Error|Exception)\b/.test(text)) return 'text-error'
  return /\bWARN(ING)?\b/.test(text) ? 'text-warn' : 'text-normal'
}
