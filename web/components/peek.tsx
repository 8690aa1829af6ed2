import { ChevronDown, ChevronUp, Maximize2, X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { IconButton } from './button.tsx'
import { useKeys } from './keys.ts'
import { useIsNarrow } from './media.ts'
import { useRememberedNumber } from './remembered.ts'
import { ResizeHandle } from './split-pane.tsx'

interface PeekProps {
  /** Names the panel, and its width in this browser. */
  name: string
  title: ReactNode
  onClose: () => void
  /** Goes to the full page. */
  onExpand?: () => void
  /** To the row above or below in the list. */
  onMove?: (by: -1 | 1) => void
  children: ReactNode
}

/** Details of one row over the list that it comes from; the list stays in use. Put it last in a page's content. */
export function Peek({ name, title, onClose, onExpand, onMove, children }: PeekProps) {
  const [left, setLeft] = useRememberedNumber(`peek.${name}`, 55)
  const panel = useRef<HTMLDivElement>(null)
  const isNarrow = useIsNarrow()
  useKeys(`${name} panel`, [
    { keys: 'Escape', does: 'Close', run: onClose },
    ...(onExpand === undefined ? [] : [{ keys: 'o', does: 'Open as a page', run: onExpand }]),
  ])
  return (
    <div ref={panel} className="pointer-events-none absolute inset-0 z-20 flex justify-end">
      <aside
        aria-label={name}
        style={isNarrow ? undefined : { width: `${100 - left}%` }}
        className="pointer-events-auto flex max-w-full min-w-105 bg-panel shadow-[-8px_0_24px_-12px_oklch(0_0_0/0.25)] max-md:w-full max-md:min-w-0"
      >
        {!isNarrow && (
          <ResizeHandle
            label={`Resize ${name}`}
            value={left}
            min={10}
            max={75}
            onChange={setLeft}
            whole={() => panel.current}
          />
        )}
        <div className="flex min-w-0 flex-1 flex-col">
          <header className="flex h-10 shrink-0 items-center gap-1 border-b border-hair ps-3 pe-2 coarse:h-12">
            <div className="flex min-w-0 flex-1 items-center gap-2">{title}</div>
            {onMove !== undefined && (
              <>
                <IconButton
                  label="Next"
                  keys="j"
                  icon={<ChevronDown size={16} />}
                  onClick={() => onMove(1)}
                />
                <IconButton
                  label="Previous"
                  keys="k"
                  icon={<ChevronUp size={16} />}
                  onClick={() => onMove(-1)}
                />
              </>
            )}
            {onExpand !== undefined && (
              <IconButton label="Open as a page" keys="o" icon={<Maximize2 size={14} />} onClick={onExpand} />
            )}
            <IconButton label="Close" keys="Escape" icon={<X size={16} />} onClick={onClose} />
          </header>
          <div className="flex min-h-0 flex-1 flex-col">{children}</div>
        </div>
      </aside>
    </div>
  )
}
