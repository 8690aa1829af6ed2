import type { ReactNode } from 'react'
import { factsOf } from '../../../api/call-facts.ts'
import type { Call } from '../../../api/calls.ts'
import { Cost, Count, Duration } from '../../../components/numbers.tsx'
import { Badge, Status } from '../../../components/status.tsx'
import { Time } from '../../../components/time.tsx'

/** How it stands, when it was, and what it took. */
export function CallFactsList({ call }: { call: Call }) {
  const { status, statusWord, startedMs, endedMs, tokens, cost, models } = factsOf(call)
  return (
    <dl className="tabular grid grid-cols-[repeat(auto-fill,minmax(6.5rem,1fr))] gap-x-4 gap-y-2 text-xs">
      <Fact name="Status">
        <Status kind={status} word={statusWord} />
      </Fact>
      <Fact name="Started">
        <Time iso={call.started_at} />
      </Fact>
      <Fact name="Latency">
        <Duration value={endedMs === null ? null : endedMs - startedMs} />
      </Fact>
      <Fact name="Tokens">
        <Count value={tokens} unit="tokens" />
      </Fact>
      <Fact name="Cost">
        <Cost value={cost} />
      </Fact>
      {models.length > 0 && (
        <Fact name={models.length === 1 ? 'Model' : 'Models'}>
          <span title={models.join(', ')}>
            <Badge>{models.join(', ')}</Badge>
          </span>
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-2xs text-muted">{name}</dt>
      <dd className="truncate text-normal">{children}</dd>
    </div>
  )
}
