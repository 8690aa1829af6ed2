import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { v7 as newId } from 'uuid'
import { type Call, recordCall, streamCalls } from '../../api/calls.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { useReadOnly } from '../../api/read-only.ts'
import { Button } from '../../components/button.tsx'
import { formatDuration } from '../../components/format.ts'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'

/** Often enough that a call seems to appear when it is made. */
const LOOK_MS = 1500
const SHOWN = 5

/** Calls that have arrived in a project so far, live: nothing at first, then the newest. */
export function FirstCalls({ name }: { name: ProjectName }) {
  const project = projectId(name)
  const queries = useQueryClient()
  const readOnly = useReadOnly(project)
  const { data: calls = [] } = useQuery({
    queryKey: ['calls', project, 'newest'],
    refetchInterval: LOOK_MS,
    queryFn: ({ signal }) => newestCalls(project, signal),
  })
  const send = useMutation({
    mutationFn: ({ to, call }: { to: string; call: ReturnType<typeof testCall> }) => recordCall(to, call),
    onSuccess: (_, { to }) => queries.invalidateQueries({ queryKey: ['calls', to] }),
  })
  return (
    <section aria-labelledby="arrived" className="rounded-lg border border-hair bg-panel">
      <div className="flex h-11 items-center justify-between gap-2 px-4 coarse:h-13">
        <h2 id="arrived" className="min-w-0 truncate text-base font-strong text-strong">
          Arrived in {project}
        </h2>
        {readOnly === undefined ? (
          <Button onClick={() => send.mutate({ to: project, call: testCall() })} disabled={send.isPending}>
            Send a test call
          </Button>
        ) : (
          <span className="text-xs text-muted">{readOnly}</span>
        )}
      </div>
      <ul aria-live="polite" className="flex min-h-35 flex-col border-t border-hair py-1">
        {calls.length === 0 && (
          <li className="flex h-7 items-center gap-2 px-4 text-muted">
            <Status kind="pending" show="dot" word="waiting" />
            Waiting for the first call …
          </li>
        )}
        {calls.map((call) => (
          <Arrived key={call.id} name={name} call={call} />
        ))}
      </ul>
      {send.error !== null && (
        <p role="alert" className="px-4 pb-3 text-error">
          {send.error.message}
        </p>
      )}
    </section>
  )
}

function Arrived({ name, call }: { name: ProjectName; call: Call }) {
  const ended = call.ended_at
  const ms = ended == null ? null : Date.parse(ended) - Date.parse(call.started_at)
  const kind = call.exception ? 'error' : ended == null ? 'running' : 'ok'
  return (
    <li>
      <Link
        to="/$entity/$project/calls/$id"
        params={{ ...name, id: call.id }}
        className="flex h-7 items-center gap-2 px-4 hover:bg-hover coarse:h-11"
      >
        <Status kind={kind} show="dot" />
        <span className="min-w-0 flex-1 truncate text-strong">{nameOf(call)}</span>
        <span className="text-muted">
          <Time iso={call.started_at} />
        </span>
        <span className="tabular w-20 text-end text-muted">{formatDuration(ms)}</span>
      </Link>
    </li>
  )
}

function nameOf({ op_name, display_name }: Call): string {
  return display_name ?? /\/op\/([^:/]+)/.exec(op_name)?.[1] ?? op_name
}

async function newestCalls(project: string, signal: AbortSignal): Promise<Call[]> {
  const calls: Call[] = []
  const request = {
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
    limit: SHOWN,
    columns: ['display_name', 'ended_at', 'exception'],
  }
  for await (const call of streamCalls(project, request, { signal })) calls.push(call)
  return calls
}

/** A call that a person without a client can make. */
function testCall() {
  const now = new Date()
  return {
    id: newId(),
    op_name: 'test-call',
    started_at: new Date(now.getTime() - 42).toISOString(),
    ended_at: now.toISOString(),
    inputs: { question: 'Does this arrive?' },
    output: 'It does.',
    attributes: { sent_by: 'the home page' },
    summary: {},
  }
}
