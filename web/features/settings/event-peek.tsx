import type { AuditEvent } from '../../api/audit.ts'
import type { Json } from '../../api/wire.ts'
import { Id } from '../../components/copy-button.tsx'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { Peek } from '../../components/peek.tsx'
import { Time } from '../../components/time.tsx'
import { Facts } from './facts.tsx'

/** One event, whole. */
export function EventPeek({ event, onClose }: { event: AuditEvent; onClose: () => void }) {
  const { id, at, actor, key_id, action, entity, subject, details } = event
  return (
    <Peek
      name="event"
      title={
        <>
          <h2 className="truncate text-sm font-strong text-strong">{action}</h2>
          <Id id={id} />
        </>
      }
      onClose={onClose}
    >
      <div className="thin-scroll flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
        <Facts
          facts={[
            ['When', <Time key="at" iso={at} />],
            ['Who', actor],
            ['By the key or session', <Id key="key" id={key_id} />],
            ['On', subject],
            ['Team', entity ?? 'server'],
          ]}
        />
        {/* Its values came as JSON. */}
        <JsonView label="Details" value={details as Json} />
      </div>
    </Peek>
  )
}
