import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { type MeRes, roleIn } from '../../api/accounts.ts'
import { type AuditEvent, auditFile, auditQuery } from '../../api/audit.ts'
import { Button } from '../../components/button.tsx'
import type { TableColumn } from '../../components/data-table/column.ts'
import { PagedTable } from '../../components/data-table/paged-table.tsx'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { saveFile } from '../../components/save-file.ts'
import { EmptyState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { EventPeek } from './event-peek.tsx'
import { ReadOnly, Section } from './parts/section.tsx'
import { useChange } from './parts/use-change.ts'
import { TeamSelect } from './team-select.tsx'

const route = getRouteApi('/settings')

const COLUMNS: readonly TableColumn<AuditEvent>[] = [
  timeColumn({ id: 'at', title: 'When', at: ({ at }) => at }),
  { id: 'actor', title: 'Who', width: 140, cell: ({ actor }) => actor },
  {
    id: 'action',
    title: 'What',
    width: 180,
    cell: ({ action }) => <span className="text-strong">{action}</span>,
  },
  { id: 'subject', title: 'On', width: 220, cell: ({ subject }) => subject },
  { id: 'entity', title: 'Team', width: 140, cell: ({ entity }) => entity ?? 'server' },
  {
    id: 'details',
    title: 'Details',
    width: 240,
    grows: true,
    cell: ({ details }) => <code className="font-mono text-xs text-muted">{detailsText(details)}</code>,
  },
]

/** Longer texts are beyond any column. */
const DETAILS_CHARS = 200

function detailsText(details: object): string {
  return Object.keys(details).length === 0 ? '' : JSON.stringify(details).slice(0, DETAILS_CHARS)
}

/** Who changed access, keys and settings, and who erased or exported data. */
export function AuditTab({ me }: { me: MeRes }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { action, actor, open } = search
  const entity = me.is_operator ? search.team : search.team || me.default_entity
  const mayRead = me.is_operator || roleIn(me, entity) === 'admin'
  const events = useInfiniteQuery({ ...auditQuery({ entity, action, actor }), enabled: mayRead })
  const change = (changed: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...changed }) })
  const save = useChange(() => auditFile(entity), {
    failed: 'The events were not saved',
    onDone: (file) => saveFile(file, `audit-${entity || 'server'}.jsonl`),
  })
  const opened = events.data?.find(({ id }) => id === open)
  return (
    <Section
      title="Audit"
      about="Changes of access, keys and settings, erasures and exports, the newest first. Nobody can change them."
      content="table"
      form={
        <div className="flex flex-wrap items-center gap-2">
          <TeamSelect
            team={entity}
            onTeam={(team) => change({ team, open: '' })}
            all={me.is_operator ? 'Whole server' : undefined}
          />
          {mayRead && (
            <>
              <AuditFilters
                action={action}
                actor={actor}
                onChange={(next) => change({ ...next, open: '' })}
              />
              <Button
                icon={<Download size={14} aria-hidden />}
                disabled={save.isPending}
                onClick={() => save.mutate(undefined)}
              >
                Save all
              </Button>
            </>
          )}
        </div>
      }
    >
      {mayRead ? (
        <PagedTable
          label="Audit events"
          memory="settings.Audit events"
          what="The events"
          empty={<EmptyState title={action === '' && actor === '' ? 'No events yet' : 'No events match'} />}
          query={events}
          columns={COLUMNS}
          question={`${entity} ${action} ${actor}`}
          openId={open}
          onOpen={({ id }) => change({ open: id })}
          narrow={(event) => <NarrowEvent event={event} />}
        />
      ) : (
        <div className="p-4">
          <ReadOnly>Admins of {entity} read its events.</ReadOnly>
        </div>
      )}
      {opened !== undefined && <EventPeek event={opened} onClose={() => change({ open: '' })} />}
    </Section>
  )
}

function NarrowEvent({ event: { action, actor, subject, at } }: { event: AuditEvent }) {
  return (
    <span className="min-w-0 flex-1">
      <span className="block truncate text-strong">
        {action} · {subject}
      </span>
      <span className="block truncate text-xs text-muted">
        {actor} · <Time iso={at} />
      </span>
    </span>
  )
}
