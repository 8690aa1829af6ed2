import {
  ChevronsDownUp,
  ChevronsUpDown,
  CircleAlert,
  FoldVertical,
  Maximize,
  Route,
  Search,
  Unlink,
} from 'lucide-react'
import { useRef } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import { formatCount } from '../../../components/format.ts'
import { Input } from '../../../components/input.tsx'
import { useKeys } from '../../../components/keys.ts'
import { Overview } from './overview.tsx'
import { TraceRows } from './trace-rows.tsx'
import type { TraceTree } from './trace-tree.ts'
import { type Select, type TreeCommands, useTreeCommands } from './use-tree-commands.ts'
import { type TreeView, useTreeView } from './use-tree-view.ts'

interface TreePaneProps {
  tree: TraceTree
  isComplete: boolean
  selected: string
  select: Select
  find: string
  onFind: (find: string) => void
  /** Whether the critical path is marked. */
  hasPath: boolean
  onPath: (isShown: boolean) => void
}

/** The calls of a trace: what is below what, when each ran, and what it took. */
export function TreePane({
  tree,
  isComplete,
  selected,
  select,
  find,
  onFind,
  hasPath,
  onPath,
}: TreePaneProps) {
  const shown = useTreeView(tree, { selected, find, hasPath })
  const commands = useTreeCommands(shown, select)
  return (
    <section aria-label="Trace" className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-9 shrink-0 items-center gap-1 ps-2 pe-1">
        <FindCalls shown={shown} commands={commands} find={find} onFind={onFind} />
        <TreeButtons shown={shown} commands={commands} onPath={onPath} />
      </div>
      <Overview shown={shown} />
      {isComplete && tree.orphans.size > 0 && (
        <p className="flex h-6 shrink-0 items-center gap-1.5 bg-warn-soft px-3 text-xs text-warn">
          <Unlink size={12} aria-hidden className="shrink-0" />
          <span className="truncate">
            {tree.orphans.size === 1
              ? '1 call has no parent in this trace: it is at the end'
              : `${formatCount(tree.orphans.size)} calls have no parent in this trace: they are at the end`}
          </span>
        </p>
      )}
      <TraceRows shown={shown} commands={commands} select={select} isComplete={isComplete} />
    </section>
  )
}

interface PartProps {
  shown: TreeView
  commands: TreeCommands
}

function FindCalls({ shown, commands, find, onFind }: PartProps & Pick<TreePaneProps, 'find' | 'onFind'>) {
  const { found, place } = shown
  const field = useRef<HTMLInputElement>(null)
  useKeys('Find', [{ keys: '/', does: 'Find calls', run: () => field.current?.focus() }])
  const at = found === undefined || place === undefined ? -1 : found.hits.indexOf(place)
  return (
    <Input
      ref={field}
      label="Find calls"
      placeholder="Find: name, /pattern/, kind:llm, >2s"
      className="min-w-0 flex-1"
      icon={<Search size={13} aria-hidden />}
      value={find}
      onValueChange={onFind}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commands.hit(event.shiftKey ? -1 : 1)
        if (event.key !== 'Escape') return
        event.preventDefault()
        if (find !== '') onFind('')
        else event.currentTarget.blur()
      }}
      end={
        found !== undefined && (
          <output className="tabular text-2xs whitespace-nowrap">
            {found.hits.length === 0
              ? 'none'
              : `${at < 0 ? '' : `${at + 1} of `}${formatCount(found.hits.length)}`}
          </output>
        )
      }
    />
  )
}

function TreeButtons({ shown, commands, onPath }: PartProps & Pick<TreePaneProps, 'onPath'>) {
  const { errors } = shown.tree
  const hasPath = shown.path !== undefined
  useKeys('Time', [{ keys: 'w', does: 'Mark what the trace waited for', run: () => onPath(!hasPath) }])
  return (
    <>
      {errors > 0 && (
        <Button
          size="small"
          look="danger"
          icon={<CircleAlert size={13} />}
          title="Go to the next call that failed (e)"
          onClick={() => commands.error(1)}
        >
          {formatCount(errors)}
          <span className="sr-only">{errors === 1 ? 'error' : 'errors'}, go to the next</span>
        </Button>
      )}
      {shown.isZoomed && (
        <IconButton
          label="Show all of the time"
          size="small"
          icon={<Maximize size={14} />}
          onClick={() => shown.setView(undefined)}
        />
      )}
      <IconButton
        label="Mark the critical path: what the trace waited for"
        keys="w"
        size="small"
        aria-pressed={hasPath}
        look={hasPath ? 'plain' : 'quiet'}
        icon={<Route size={14} />}
        onClick={() => onPath(!hasPath)}
      />
      <IconButton
        label="Open one level more"
        keys="]"
        size="small"
        icon={<ChevronsUpDown size={14} />}
        onClick={() => commands.changeLevels(1)}
      />
      <IconButton
        label="Close one level"
        keys="["
        size="small"
        icon={<ChevronsDownUp size={14} />}
        onClick={() => commands.changeLevels(-1)}
      />
      <IconButton
        label="Close everything beside this path"
        keys="."
        size="small"
        icon={<FoldVertical size={14} />}
        onClick={commands.onlyPath}
      />
    </>
  )
}
