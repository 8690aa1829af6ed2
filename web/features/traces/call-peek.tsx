import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Call } from '../../api/calls.ts'
import { readCall } from '../../api/calls.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Id } from '../../components/copy-button.tsx'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { pressKey } from '../../components/keys.ts'
import { Cost, Count, Duration } from '../../components/numbers.tsx'
import { Peek } from '../../components/peek.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { Badge, Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { rowOf } from './call-row.ts'
import { exceptionText } from './exception-text.ts'
import { FeedbackBar } from './feedback-bar.tsx'

/** One call over the list that it comes from. */
export function CallPeek({ name, id, onClose }: { name: ProjectName; id: string; onClose: () => void }) {
  const project = projectId(name)
  const navigate = useNavigate()
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ['calls', project, 'one', id],
    queryFn: ({ signal }) => readCall(project, id, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data != null && state.data.ended_at === null ? LIVE_MS : false),
  })
  const row = data == null ? undefined : rowOf(data, [])
  return (
    <Peek
      name="call"
      title={
        row === undefined ? (
          <Skeleton className="h-4 w-40" />
        ) : (
          <>
            <Status kind={row.status} word={row.statusWord} show="dot" />
            <h2 className="truncate text-sm font-strong text-strong">{row.name}</h2>
            <Id id={id} />
          </>
        )
      }
      onClose={onClose}
      onMove={(by) => pressKey(by === 1 ? 'j' : 'k')}
      onExpand={() => void navigate({ to: '/$entity/$project/calls/$id', params: { ...name, id } })}
    >
      {error !== null && data === undefined ? (
        <ErrorState title="The call could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : data === null ? (
        <EmptyState title="There is no such call">
          <p>
            It may have been deleted, or it is still on its way: the list shows it as soon as it is there.
          </p>
        </EmptyState>
      ) : (
        <div className="thin-scroll flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-3 py-2">
          <FeedbackBar project={project} id={id} />
          {isPending || data === undefined ? <Skeleton className="h-40 w-full" /> : <CallFacts call={data} />}
        </div>
      )}
    </Peek>
  )
}

function CallFacts({ call }: { call: Call }) {
  const row = rowOf(call, [])
  const exception = call.exception ? exceptionText(call.exception) : undefined
  return (
    <>
      <dl className="tabular grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-x-4 gap-y-2 text-xs">
        <Fact name="Status">
          <Status kind={row.status} word={row.statusWord} />
        </Fact>
        <Fact name="Started">
          <Time iso={call.started_at} />
        </Fact>
        <Fact name="Latency">
          <Duration value={row.latencyMs} />
        </Fact>
        <Fact name="Tokens">
          <Count value={row.tokens} unit="tokens" />
        </Fact>
        <Fact name="Cost">
          <Cost value={row.cost} />
        </Fact>
        {row.models !== '' && (
          <Fact name="Model">
            <Badge>{row.models}</Badge>
          </Fact>
        )}
      </dl>
      {exception !== undefined && (
        <section aria-label="Exception">
          <h3 className="flex h-8 items-center text-xs font-strong text-error">Exception</h3>
          <div className="thin-scroll max-h-72 overflow-auto rounded-md bg-error-soft p-3">
            <p className="text-sm text-strong wrap-anywhere">{exception.line}</p>
            {exception.rest !== '' && (
              <pre className="mt-2 font-mono text-xs whitespace-pre-wrap text-normal wrap-anywhere">
                {exception.rest}
              </pre>
            )}
          </div>
        </section>
      )}
      <JsonView key={`inputs ${call.id}`} label="Inputs" value={call.inputs} root={['inputs']} />
      <JsonView key={`output ${call.id}`} label="Output" value={call.output} root={['output']} />
      <JsonView
        key={`attributes ${call.id}`}
        label="Attributes"
        value={call.attributes}
        root={['attributes']}
        maxHeight={240}
      />
      <JsonView
        key={`summary ${call.id}`}
        label="Summary"
        value={call.summary}
        root={['summary']}
        maxHeight={240}
      />
    </>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-2xs text-muted">{name}</dt>
      <dd className="truncate text-normal">{children}</dd>
    </div>
  )
}
