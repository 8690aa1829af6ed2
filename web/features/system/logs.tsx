import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowDownToLine, Download, Search } from 'lucide-react'
import { useMemo, useState } from 'react'
import {
  type EngineLogs,
  engineLogPiece,
  engineLogsQuery,
  SYSTEM_LIVE_MS,
  wholeEngineLog,
} from '../../api/system.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { formatBytes, formatCount } from '../../components/format.ts'
import { Input } from '../../components/input.tsx'
import { messageOf } from '../../components/message-of.ts'
import { saveFile } from '../../components/save-file.ts'
import { Select } from '../../components/select.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { notify } from '../../components/toast.ts'
import { plainText } from './ansi.ts'
import { type LogLine, type LogTail, linesWith, withPiece } from './log-lines.ts'
import { LogRows } from './log-rows.tsx'

/** What the engines write, as they write it. */
export function Logs() {
  const { data, error, refetch } = useQuery(engineLogsQuery)
  const [chosen, choose] = useState<string>()
  // Which log was written last changes all the time; the open one stays.
  if (chosen === undefined && data?.logs[0] !== undefined) choose(data.logs[0].name)
  if (error !== null && data === undefined)
    return <ErrorState title="The logs could not be listed" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton className="h-89 w-full" />
  if (chosen === undefined)
    return (
      <EmptyState title="No engine has written anything yet">
        <p>Each engine has a log here from its first start on.</p>
      </EmptyState>
    )
  return <Log key={chosen} name={chosen} logs={data.logs} onChoose={choose} />
}

interface LogProps {
  name: string
  logs: EngineLogs['logs']
  onChoose: (name: string) => void
}

function Log({ name, logs, onChoose }: LogProps) {
  const { data, error, refetch } = useTail(name)
  const [filter, setFilter] = useState('')
  // Lines must not move while a person reads, so they are not updated unless the view follows the end.
  const [held, hold] = useState<readonly LogLine[]>()
  const newest = data?.lines ?? NO_LINES
  const lines = held ?? newest
  const missed = (newest.at(-1)?.number ?? 0) - (lines.at(-1)?.number ?? 0)
  const shown = useMemo(() => linesWith(lines, filter), [lines, filter])
  const options = logs
    .map((log) => ({
      value: log.name,
      label: `${log.name.replace(/\.log$/, '')} · ${formatBytes(log.size_bytes)}`,
    }))
    .sort((a, b) => a.value.localeCompare(b.value))
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-1.5">
        <Select
          label="Log"
          value={name}
          options={options}
          onChange={onChoose}
          className="max-w-80 max-md:w-full max-md:max-w-none"
        />
        <Input
          label="Lines with"
          placeholder="Lines with…"
          icon={<Search size={13} aria-hidden />}
          value={filter}
          onValueChange={setFilter}
          className="w-56 max-md:w-full"
        />
        <span className="tabular text-xs text-muted" role="status">
          {filter.trim() === ''
            ? `${formatCount(lines.length)} lines`
            : `${formatCount(shown.length)} of ${formatCount(lines.length)} lines`}
        </span>
        <span className="ms-auto flex items-center gap-1.5">
          <Button
            size="small"
            aria-pressed={held === undefined}
            icon={<ArrowDownToLine size={13} aria-hidden />}
            onClick={() => hold(undefined)}
          >
            {held === undefined ? 'Following' : missed > 0 ? `Follow, ${formatCount(missed)} new` : 'Follow'}
          </Button>
          <CopyButton label="Copy these lines" text={() => textOf(shown)} />
          <IconButton
            label="Download the whole log"
            size="small"
            icon={<Download size={13} />}
            onClick={() => void save(name)}
          />
        </span>
      </div>
      {error !== null ? (
        <ErrorState title="The log could not be read" error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton className="h-80 w-full" />
      ) : (
        <LogRows
          label={`Lines of ${name}`}
          lines={shown}
          isFollowing={held === undefined}
          onFollow={(isFollowing) => hold(isFollowing ? undefined : newest)}
        />
      )}
    </div>
  )
}

const NO_LINES: readonly LogLine[] = []

/** The end of a log; what is written later is added. */
function useTail(name: string) {
  const client = useQueryClient()
  const queryKey = ['system', 'log', name]
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<LogTail>(queryKey)
      return withPiece(before, await engineLogPiece(name, { from: before?.until, signal }))
    },
    refetchInterval: SYSTEM_LIVE_MS,
  })
}

const textOf = (lines: readonly LogLine[]) =>
  lines.map(({ at, text }) => (at === undefined ? plainText(text) : `${at} ${plainText(text)}`)).join('\n')

async function save(name: string): Promise<void> {
  try {
    saveFile(await wholeEngineLog(name), name)
  } catch (error) {
    notify({ title: 'The download failed', detail: messageOf(error) })
  }
}
