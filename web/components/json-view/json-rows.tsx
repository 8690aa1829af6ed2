import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight, Columns3, Link2 } from 'lucide-react'
import { type KeyboardEvent, memo, useEffect, useRef, useState } from 'react'
import { IconButton } from '../button.tsx'
import { classNames } from '../class-names.ts'
import { CopyButton, copyText } from '../copy-button.tsx'
import { TextOrRef } from '../ref-link.tsx'
import { type JsonLine, pathText } from './json-lines.ts'

const ROW_PX = 20
const INDENT_PX = 14
/** Deeper lines are not moved further in. */
const INDENTS_MAX = 14

interface JsonRowsProps {
  label: string
  lines: readonly JsonLine[]
  root: readonly string[]
  maxHeight: number | 'fill'
  /** The id of the hit that is shown. */
  hit: string | undefined
  /** What was searched for, to mark it. */
  found: string
  onToggle: (line: JsonLine) => void
  onPath: { label: string; run: (path: readonly (string | number)[]) => void } | undefined
}

/** The lines in view; knows the virtualizer and hands plain props on. */
export function JsonRows({ label, lines, root, maxHeight, hit, found, onToggle, onPath }: JsonRowsProps) {
  'use no memo'
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const hitAt = hit === undefined ? -1 : lines.findIndex((line) => line.id === hit)
  useEffect(() => {
    if (hitAt >= 0) virtualizer.scrollToIndex(hitAt, { align: 'center' })
  }, [hitAt, virtualizer])
  const latest = useRef(onToggle)
  latest.current = onToggle
  const [toggle] = useState(() => (line: JsonLine) => latest.current(line))

  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextLine(event.key, lines, active)
    const line = lines[active]
    if (next !== undefined) {
      setActive(next)
      virtualizer.scrollToIndex(next, { align: 'auto' })
    } else if (event.key === 'Enter' && line?.kind === 'ref')
      scroller.current?.querySelector<HTMLElement>(`#${CSS.escape(`${label}-${active}`)} a`)?.click()
    else if (line !== undefined && opensOrCloses(event.key, line)) onToggle(line)
    else if (event.key === 'c' && line !== undefined && !event.ctrlKey && !event.metaKey)
      void copyText(valueText(line))
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={
        lines.length === 0 ? undefined : `${label}-${Math.min(active, lines.length - 1)}`
      }
      onKeyDown={onKeyDown}
      className={classNames(
        'group/tree thin-scroll overflow-auto rounded-md border border-hair bg-inset py-1 font-mono text-xs',
        maxHeight === 'fill' && 'min-h-0 flex-1',
      )}
      style={maxHeight === 'fill' ? undefined : { height: Math.min(maxHeight, lines.length * ROW_PX + 10) }}
    >
      <div role="group" className="relative min-w-max" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const line = lines[index]
          return (
            line !== undefined && (
              <Line
                key={line.id}
                id={`${label}-${index}`}
                line={line}
                root={root}
                top={start}
                isActive={index === active}
                isHit={index === hitAt}
                found={found}
                onToggle={toggle}
                onActivate={setActive}
                index={index}
                onPath={onPath}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

function nextLine(key: string, lines: readonly JsonLine[], active: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(lines.length - 1, active + 1)
  if (key === 'ArrowUp') return Math.max(0, active - 1)
  if (key === 'Home') return 0
  if (key === 'End') return lines.length - 1
  const line = lines[active]
  if (key === 'ArrowLeft' && line !== undefined && !line.isOpen) {
    const above = lines.slice(0, active).findLastIndex(({ depth }) => depth < line.depth)
    return above < 0 ? undefined : above
  }
  return undefined
}

function opensOrCloses(key: string, line: JsonLine): boolean {
  if (!canOpen(line)) return false
  return (
    key === 'Enter' ||
    key === ' ' ||
    (key === 'ArrowRight' && !line.isOpen) ||
    (key === 'ArrowLeft' && line.isOpen)
  )
}

const canOpen = ({ kind }: JsonLine) => kind === 'object' || kind === 'array' || kind === 'longText'

function valueText({ value }: JsonLine): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

interface LineProps {
  id: string
  line: JsonLine
  root: readonly string[]
  top: number
  isActive: boolean
  isHit: boolean
  found: string
  index: number
  onToggle: (line: JsonLine) => void
  onActivate: (index: number) => void
  onPath: JsonRowsProps['onPath']
}

const INKS: Record<JsonLine['kind'], string> = {
  object: 'text-muted',
  array: 'text-muted',
  text: 'text-json-text',
  longText: 'text-json-text',
  textLine: 'text-json-text',
  ref: 'text-json-text',
  number: 'text-json-number',
  word: 'text-json-word',
}

const Line = memo(function Line({
  id,
  line,
  root,
  top,
  isActive,
  isHit,
  found,
  index,
  onToggle,
  onActivate,
  onPath,
}: LineProps) {
  const opens = canOpen(line)
  const path = [...root, ...line.path]
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={line.depth + 1}
      aria-expanded={opens ? line.isOpen : undefined}
      aria-selected={isActive}
      className={classNames(
        'group/line absolute inset-x-0 flex h-5 items-center pe-20 whitespace-pre hover:bg-hover',
        isActive && 'group-focus-visible/tree:bg-selected',
        isHit && 'bg-mark/60',
      )}
      style={{
        transform: `translateY(${top}px)`,
        paddingLeft: 6 + Math.min(line.depth, INDENTS_MAX) * INDENT_PX,
      }}
      onClick={() => {
        onActivate(index)
        if (opens && getSelection()?.isCollapsed !== false) onToggle(line)
      }}
    >
      <span className="w-4 shrink-0 text-muted" aria-hidden>
        {opens && <ChevronRight size={12} className={classNames(line.isOpen && 'rotate-90')} />}
      </span>
      {line.name !== undefined && (
        <span className={typeof line.name === 'number' ? 'text-muted' : 'text-json-key'}>
          <Marked text={String(line.name)} found={found} />
          <span className="text-muted">: </span>
        </span>
      )}
      <span className={INKS[line.kind]}>
        {line.kind === 'ref' && typeof line.value === 'string' && !isHit ? (
          <TextOrRef text={line.value} tabIndex={-1} />
        ) : (
          <Marked text={line.text} found={found} />
        )}
      </span>
      {line.kind === 'longText' && (
        <span className="ps-2 text-2xs text-muted">
          {(line.value as string).length.toLocaleString('en')} characters
        </span>
      )}
      {line.kind !== 'textLine' && (
        <span className="sticky right-1 ms-auto hidden rounded-md bg-hover ps-2 font-sans group-hover/line:flex">
          {onPath !== undefined && line.path.length > 0 && (
            <IconButton
              label={onPath.label}
              size="small"
              className="!size-5"
              icon={<Columns3 size={12} />}
              onClick={() => onPath.run(path)}
            />
          )}
          <IconButton
            label="Copy path"
            size="small"
            className="!size-5"
            icon={<Link2 size={12} />}
            onClick={(event) => {
              event.stopPropagation()
              void copyText(pathText(path))
            }}
          />
          <CopyButton label="Copy value" className="!size-5" text={() => valueText(line)} />
        </span>
      )}
    </div>
  )
})

function Marked({ text, found }: { text: string; found: string }) {
  const at = found === '' ? -1 : text.toLowerCase().indexOf(found.toLowerCase())
  if (at < 0) return text
  return (
    <>
      {text.slice(0, at)}
      <mark className="rounded-xs bg-mark text-strong">{text.slice(at, at + found.length)}</mark>
      {text.slice(at + found.length)}
    </>
  )
}
