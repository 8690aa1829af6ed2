import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useMemo, useState } from 'react'
import { classNames } from '../../../components/class-names.ts'
import { isOutlier, type Quantity, type Scale, type TokenFacts, tokenValue } from './token-colors.ts'
import { shownText, type TokenLine, tokenLines } from './token-lines.ts'

const LINE_PX = 24
/** Width of a character of the monospaced font at its size here. */
const CHAR_PX = 7.3
const PADDING_PX = 24
const OVERSCAN = 8

interface TokenTextProps {
  tokens: readonly TokenFacts[]
  quantity: Quantity
  scale: Scale
  pinned: number | undefined
  onHover: (index: number | undefined) => void
  onPin: (index: number | undefined) => void
}

/** Tokens as coloured text; only lines in view are in the document, however many tokens there are. */
export function TokenText(props: TokenTextProps) {
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (scroller === null) return
    const sizes = new ResizeObserver(() => setWidth(scroller.clientWidth))
    sizes.observe(scroller)
    return () => sizes.disconnect()
  }, [scroller])
  const columns = Math.max(8, Math.floor((width - PADDING_PX) / CHAR_PX))
  const lines = useMemo(
    () =>
      tokenLines(
        props.tokens.map(({ text }) => text),
        columns,
      ),
    [props.tokens, columns],
  )
  const indexOf = (event: { target: EventTarget }) => {
    const index = event.target instanceof HTMLElement ? event.target.dataset['token'] : undefined
    return index === undefined ? undefined : Number(index)
  }
  return (
    // biome-ignore lint/a11y/useKeyWithMouseEvents: a token has no focus of its own, `n` goes through those worth it
    <section
      ref={setScroller}
      aria-label="Tokens"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
      tabIndex={0}
      className="thin-scroll min-h-0 flex-1 overflow-y-auto px-3 py-1 font-mono text-xs [contain:strict]"
      onMouseOver={(event) => props.onHover(indexOf(event))}
      onMouseLeave={() => props.onHover(undefined)}
      onClick={(event) => props.onPin(indexOf(event))}
      onKeyDown={(event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
        if (by === undefined) return
        event.preventDefault()
        event.stopPropagation()
        props.onPin(Math.min(props.tokens.length - 1, Math.max(0, (props.pinned ?? -1) + by)))
      }}
    >
      {width > 0 && <Lines {...props} lines={lines} scroller={scroller} />}
    </section>
  )
}

/** The one component that knows the virtualizer. */
function Lines({
  lines,
  scroller,
  ...props
}: TokenTextProps & { lines: readonly TokenLine[]; scroller: HTMLElement | null }) {
  'use no memo'
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN,
    useFlushSync: false,
  })
  const { pinned } = props
  useEffect(() => {
    if (pinned === undefined) return
    const line = lines.findIndex(({ from, to }) => pinned >= from && pinned < to)
    if (line >= 0) virtualizer.scrollToIndex(line, { align: 'auto' })
  }, [pinned, lines, virtualizer])
  return (
    <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ index, start }) => {
        const line = lines[index]
        if (line === undefined) return null
        const isPinnedHere = pinned !== undefined && pinned >= line.from && pinned < line.to
        return (
          <Line
            key={index}
            top={start}
            from={line.from}
            to={line.to}
            tokens={props.tokens}
            quantity={props.quantity}
            scale={props.scale}
            pinned={isPinnedHere ? pinned : undefined}
          />
        )
      })}
    </div>
  )
}

interface LineProps extends TokenLine {
  top: number
  tokens: readonly TokenFacts[]
  quantity: Quantity
  scale: Scale
  pinned: number | undefined
}

const Line = memo(function Line({ top, from, to, tokens, quantity, scale, pinned }: LineProps) {
  return (
    <div
      className="absolute inset-x-0 overflow-hidden whitespace-pre"
      style={{ height: LINE_PX, lineHeight: `${LINE_PX}px`, transform: `translateY(${top}px)` }}
    >
      {tokens.slice(from, to).map((token, offset) => {
        const index = from + offset
        return (
          <span
            key={index}
            data-token={index}
            style={{
              backgroundColor: token.isSampled ? scale.colorOf(tokenValue(token, quantity)) : undefined,
            }}
            className={classNames(
              'rounded-sm border-e border-bg py-0.5',
              token.isSampled ? 'text-strong' : 'text-muted',
              isOutlier(token, quantity) && 'underline decoration-warn decoration-2 underline-offset-3',
              index === pinned && 'outline-2 outline-focus',
            )}
          >
            {shownText(token.text)}
          </span>
        )
      })}
    </div>
  )
})
