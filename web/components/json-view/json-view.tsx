import { ChevronsDownUp, ChevronsUpDown } from 'lucide-react'
import { useDeferredValue, useMemo, useRef, useState } from 'react'
import type { Json } from '../../api/wire.ts'
import { IconButton } from '../button.tsx'
import { CopyButton } from '../copy-button.tsx'
import { FindField } from './find-field.tsx'
import { idOf, jsonLines } from './json-lines.ts'
import { JsonRows } from './json-rows.tsx'
import { findInJson } from './json-search.ts'

/** A value with fewer lines is shown whole. */
const LINES_SHOWN_WHOLE = 150
const LEVELS_SHOWN = 2

interface JsonViewProps {
  /** Read out, and shown over the value. */
  label: string
  value: Json
  /** The path of the value within what the API calls a call: what "copy path" begins with. */
  root?: readonly string[]
  /** Pixels; beyond it the value scrolls by itself. `fill` takes the height of what it is in. */
  maxHeight?: number | 'fill'
  /** Offered for a path, for instance to make a column of it. */
  onPath?: { label: string; run: (path: readonly (string | number)[]) => void }
}

/** Any JSON value, however large: only the lines in view are in the document, and only what is open is listed. */
export function JsonView({ label, value, root = [], maxHeight = 420, onPath }: JsonViewProps) {
  const [levels, setLevels] = useState(() => levelsFor(value))
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [find, setFind] = useState({ text: '', at: 0 })
  const text = useDeferredValue(find.text)
  const hits = useMemo(() => findInJson(value, text), [value, text])
  const hit = hits.length === 0 ? undefined : hits[find.at % hits.length]
  const lines = useMemo(() => {
    const toHit = new Set(hit?.map((_, depth) => idOf(hit.slice(0, depth))))
    return jsonLines(value, (id, depth) => toHit.has(id) || (toggled.get(id) ?? depth < levels), hit)
  }, [value, levels, toggled, hit])
  const openLevels = (next: number) => {
    setLevels(next)
    setToggled(new Map())
  }
  const copyable = useRef(value)
  copyable.current = value
  return (
    <section className={maxHeight === 'fill' ? 'flex min-h-0 flex-1 flex-col' : undefined} aria-label={label}>
      <header className="flex h-8 shrink-0 items-center gap-1">
        <h3 className="me-auto truncate text-xs font-strong text-muted">{label}</h3>
        <FindField
          value={find.text}
          count={hits.length}
          at={hits.length === 0 ? 0 : find.at % hits.length}
          onChange={(next) => setFind({ text: next, at: 0 })}
          onStep={(by) =>
            setFind(({ text: same, at }) => ({
              text: same,
              at: (at + by + hits.length) % Math.max(1, hits.length),
            }))
          }
        />
        <IconButton
          label="Open one level more"
          size="small"
          icon={<ChevronsUpDown size={14} />}
          onClick={() => openLevels(levels + 1)}
        />
        <IconButton
          label="Close all levels"
          size="small"
          icon={<ChevronsDownUp size={14} />}
          onClick={() => openLevels(1)}
        />
        <CopyButton label={`Copy ${label}`} text={() => JSON.stringify(copyable.current, null, 2)} />
      </header>
      <JsonRows
        label={label}
        lines={lines}
        root={root}
        maxHeight={maxHeight}
        hit={hit === undefined ? undefined : idOf(hit)}
        found={text}
        onToggle={(line) => setToggled((old) => new Map(old).set(line.id, !line.isOpen))}
        onPath={onPath}
      />
    </section>
  )
}

function levelsFor(value: Json): number {
  let shown = 0
  const stack: { value: Json; depth: number }[] = [{ value, depth: 0 }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (++shown > LINES_SHOWN_WHOLE) return LEVELS_SHOWN
    if (typeof next.value !== 'object' || next.value === null) continue
    const { depth } = next
    for (const child of Object.values(next.value)) {
      if (stack.length > LINES_SHOWN_WHOLE) return LEVELS_SHOWN
      if (child !== undefined) stack.push({ value: child, depth: depth + 1 })
    }
  }
  return Number.MAX_SAFE_INTEGER
}
