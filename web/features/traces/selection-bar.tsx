import { useQueryClient } from '@tanstack/react-query'
import { Download, Trash2, X } from 'lucide-react'
import { Suspense, useEffect, useRef, useState } from 'react'
import type { CallsRequest } from '../../api/calls.ts'
import { useReadOnly } from '../../api/read-only.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { useKeys } from '../../components/keys.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { Menu } from '../../components/menu.tsx'
import { messageOf } from '../../components/message-of.ts'
import { notify } from '../../components/toast.ts'
import { chosenCount } from './chosen.ts'
import { deleteChosen } from './delete-chosen.ts'
import { type ExportFormat, exportCalls } from './export-calls.ts'
import type { ChosenCalls } from './use-chosen.ts'
import type { Traces } from './use-traces.ts'

const ConfirmDialog = lazyPart(async () => (await import('../../components/dialog.tsx')).ConfirmDialog)

interface SelectionBarProps {
  project: string
  traces: Traces
  chosen: ChosenCalls
  /** Columns of a CSV, in order. */
  ids: readonly string[]
}

/** What can be done with the chosen calls, below the list, where it moves no row. */
export function SelectionBar({ project, traces, chosen, ids }: SelectionBarProps) {
  const [isAsking, setAsking] = useState(false)
  const readOnly = useReadOnly(project)
  const work = useBulkWork(project, { traces, chosen, ids })
  const count = chosenCount(chosen.chosen, traces.rowCount)
  const calls = `${count.toLocaleString('en')} ${count === 1 ? 'call' : 'calls'}`
  useKeys('Chosen calls', [{ keys: 'Escape', does: 'Choose none', run: chosen.clear }])
  return (
    <section
      aria-label="Chosen calls"
      className="tabular flex h-10 shrink-0 items-center gap-1.5 border-t border-hair bg-panel px-4 text-sm"
    >
      <output className="text-strong">
        {chosen.share === 'all' && count > 1 ? `All ${calls} that match are chosen` : `${calls} chosen`}
      </output>
      {chosen.share !== 'all' && (
        <Button look="quiet" size="small" disabled={!chosen.canChooseAll} onClick={chosen.chooseAll}>
          Choose all {traces.rowCount.toLocaleString('en')} that match
        </Button>
      )}
      <span aria-hidden className="mx-1 h-4 w-px bg-hair" />
      {work.doing === undefined ? (
        <>
          <Menu
            side="top"
            trigger={
              <Button size="small" icon={<Download size={13} aria-hidden />}>
                Export
              </Button>
            }
            groups={[
              {
                entries: [
                  { label: 'CSV of these columns', onSelect: () => work.save('csv') },
                  { label: 'JSON lines of whole calls', onSelect: () => work.save('jsonl') },
                ],
              },
            ]}
          />
          {readOnly === undefined ? (
            <Button
              size="small"
              look="danger"
              icon={<Trash2 size={13} aria-hidden />}
              onClick={() => setAsking(true)}
            >
              Delete
            </Button>
          ) : (
            <span className="text-xs text-muted">{readOnly}</span>
          )}
          <IconButton
            label="Choose none"
            keys="Escape"
            size="small"
            icon={<X size={14} />}
            onClick={chosen.clear}
          />
        </>
      ) : (
        <Progress {...work.doing} onStop={work.stop} />
      )}
      {isAsking && (
        <Suspense>
          <ConfirmDialog
            title={`Delete ${calls}?`}
            isOpen
            consequence={`${count === 1 ? 'This call goes' : `These ${calls} go`} with everything below. This cannot be undone.`}
            action={`Delete ${calls}`}
            onConfirm={work.remove}
            onClose={() => setAsking(false)}
          />
        </Suspense>
      )}
    </section>
  )
}

interface Doing {
  word: string
  done: number
  total: number
}

function Progress({ word, done, total, onStop }: Doing & { onStop: () => void }) {
  const share = Math.min(1, done / (total || 1))
  return (
    <>
      <span className="text-muted">
        {word} {done.toLocaleString('en')} of {total.toLocaleString('en')}
      </span>
      <progress aria-label={word} value={share} className="h-1.5 w-28 accent-(--accent)" />
      <Button size="small" onClick={onStop}>
        Stop
      </Button>
    </>
  )
}

/** The API takes no more ids in a filter. */
const NAMED_IDS_MAX = 1000

function namedRequests(request: CallsRequest, ids: readonly string[]): CallsRequest[] {
  const portions = Array.from({ length: Math.ceil(ids.length / NAMED_IDS_MAX) }, (_, at) =>
    ids.slice(at * NAMED_IDS_MAX, (at + 1) * NAMED_IDS_MAX),
  )
  return portions.map((call_ids) => ({ ...request, filter: { ...request.filter, call_ids } }))
}

/** Work over many calls, one at a time, which can be stopped; leaving the page stops it. */
function useBulkWork(project: string, { traces, chosen, ids }: Omit<SelectionBarProps, 'project'>) {
  const queries = useQueryClient()
  const [doing, setDoing] = useState<Doing>()
  const stopper = useRef<AbortController>(undefined)
  useEffect(() => () => stopper.current?.abort(), [])
  const total = chosenCount(chosen.chosen, traces.rowCount)
  const begin = (word: string) => {
    stopper.current = new AbortController()
    setDoing({ word, done: 0, total })
    return {
      signal: stopper.current.signal,
      onProgress: (done: number) => setDoing({ word, done, total }),
    }
  }
  async function save(format: ExportFormat): Promise<void> {
    const { kind, ids: named } = chosen.chosen
    const isNamed = kind === 'these'
    await exportCalls(project, {
      ...begin('Exporting'),
      ids,
      format,
      requests: isNamed ? namedRequests(traces.request, [...named]) : [traces.request],
      ...(!isNamed && named.size > 0 && { isWanted: chosen.has }),
    })
    setDoing(undefined)
  }
  async function remove(): Promise<void> {
    const { signal, onProgress } = begin('Deleting')
    let done = 0
    const count = (deleted: number) => {
      done = deleted
      onProgress(deleted)
    }
    try {
      await deleteChosen(project, {
        request: traces.request,
        chosen: chosen.chosen,
        callsMax: total,
        signal,
        onProgress: count,
      })
      notify({ title: `${done.toLocaleString('en')} ${done === 1 ? 'call' : 'calls'} deleted` })
    } catch (error) {
      const title = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} calls were deleted`
      notify({
        title,
        ...(!signal.aborted && { detail: messageOf(error) }),
      })
    }
    setDoing(undefined)
    chosen.clear()
    await queries.invalidateQueries({ queryKey: ['calls', project] })
  }
  return {
    doing,
    save: (format: ExportFormat) => void save(format),
    remove: () => void remove(),
    stop: () => stopper.current?.abort(),
  }
}
