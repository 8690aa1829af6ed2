import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { countCalls } from '../../api/calls.ts'
import { Button } from '../../components/button.tsx'
import { CodeEditor } from '../../components/code-editor.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { queryText, type ReadQuery, readQuery } from './query-text.ts'
import type { ChangeSearch, TracesSearch } from './search.ts'
import { filterOf } from './use-traces.ts'

interface QueryDialogProps {
  project: string
  search: TracesSearch
  change: ChangeSearch
  onClose: () => void
}

/** The chips and the search as the API's query, to read, copy and write. */
export function QueryDialog({ project, search, change, onClose }: QueryDialogProps) {
  const [text, setText] = useState(() => queryText(search))
  const read = readQuery(text)
  const apply = () => {
    if ('problem' in read) return
    change({ ...read.asked, open: '' })
    onClose()
  }
  return (
    <Dialog title="Edit as query" isOpen onClose={onClose} className="w-[min(44rem,calc(100vw-24px))]">
      <div className="flex flex-col gap-3">
        <p className="text-muted">
          What the chips ask for, as <code className="font-mono text-xs">query</code> of{' '}
          <code className="font-mono text-xs">/calls/stream_query</code>; the time and whole traces come on
          top.
        </p>
        <div className="relative">
          <CodeEditor
            label="Query"
            value={text}
            onChange={setText}
            placeholder='{"$expr": {"$gt": [{"$getField": "summary.weave.latency_ms"}, {"$literal": 2000}]}}'
          />
          <CopyButton text={() => text} label="Copy query" className="absolute top-1.5 right-3" />
        </div>
        <div className="flex items-center gap-2">
          <Verdict project={project} search={search} read={read} />
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={'problem' in read} onClick={apply}>
            Apply
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** The error, or how many calls match, once typing pauses. */
function Verdict({
  project,
  search,
  read,
}: Pick<QueryDialogProps, 'project' | 'search'> & { read: ReadQuery }) {
  const query = useDeferredValue('problem' in read ? undefined : read.query)
  const filter = filterOf(search)
  const { data, error, isFetching } = useQuery({
    queryKey: ['calls', project, 'query-count', filter, query],
    enabled: !('problem' in read),
    queryFn: ({ signal }) => countCalls(project, { filter, query }, { signal }),
  })
  const problem = 'problem' in read ? read.problem : error?.message
  return (
    <output
      className={`tabular min-w-0 flex-1 text-xs wrap-anywhere ${problem === undefined ? 'text-muted' : 'text-error'}`}
    >
      {problem ??
        (isFetching || data === undefined
          ? 'Counting…'
          : `${data.toLocaleString('en')} ${data === 1 ? 'call matches' : 'calls match'}, at any time`)}
    </output>
  )
}
