import { useQuery } from '@tanstack/react-query'
import { auditQuery, type MeRes } from '../../api/accounts.ts'
import { EmptyState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { TeamSelect } from './members-tab.tsx'
import { Loaded, Section } from './section.tsx'
import { Table } from './table.tsx'

/** Who changed access, keys and settings. */
export function AuditTab({ me, team, onTeam }: { me: MeRes; team: string; onTeam: (name: string) => void }) {
  const entity = me.is_operator ? team : team || me.default_entity
  const mayRead = me.is_operator || me.entities.some(({ name, role }) => name === entity && role === 'admin')
  const events = useQuery({ ...auditQuery(entity === '' ? undefined : entity), enabled: mayRead })
  const select = <TeamSelect team={entity} onTeam={onTeam} {...(me.is_operator && { all: 'Whole server' })} />
  return (
    <Section
      about="Changes of access, keys and settings, deletions and exports, the newest first. Nothing here can be changed."
      form={<div className="flex">{select}</div>}
    >
      {mayRead ? (
        <Loaded query={events} what="The events">
          {(rows) => (
            <Table
              label="Audit events"
              headings={['When', 'Who', 'What', 'Team', 'On', 'Details']}
              rows={rows.map((row) => ({
                key: row.id,
                cells: [
                  <Time key="at" iso={row.at} />,
                  row.actor,
                  row.action,
                  row.entity ?? 'server',
                  row.subject,
                  <code key="details" className="font-mono text-xs text-muted">
                    {detailsText(row.details)}
                  </code>,
                ],
              }))}
            />
          )}
        </Loaded>
      ) : (
        <EmptyState title={`Admins of ${entity} read its events`} />
      )}
    </Section>
  )
}

/** Longer texts would widen the table beyond use; the export has all of them. */
const DETAILS_CHARS = 120

function detailsText(details: object): string {
  return Object.keys(details).length === 0 ? '' : JSON.stringify(details).slice(0, DETAILS_CHARS)
}
