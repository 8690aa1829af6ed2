import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Member, type MeRes, membersQuery, removeMember, roleIn, setMember } from '../../api/accounts.ts'
import { Button, buttonLook } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Select } from '../../components/select.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { NewMember } from './new-member.tsx'
import { Loaded, ReadOnly, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'
import { useChange } from './parts/use-change.ts'
import { ROLES } from './roles.ts'
import { TeamSelect } from './team-select.tsx'

interface MembersTabProps {
  me: MeRes
  team: string
  onTeam: (name: string) => void
}

/** Who belongs to a team, and as what. */
export function MembersTab({ me, team, onTeam }: MembersTabProps) {
  const members = useQuery(membersQuery(team))
  const role = roleIn(me, team)
  const mayManage = role === 'admin' || me.is_operator
  const [removing, setRemoving] = useState<string>()
  const remove = useChange((user: string) => removeMember(team, user), {
    failed: 'The member was not removed',
  })
  return (
    <Section
      title="Members"
      about="Members see the projects of a team; what else they may do is their role. Service accounts are users for programs."
      form={
        <div className="flex flex-col gap-3">
          <div className="flex">
            <TeamSelect team={team} onTeam={onTeam} />
          </div>
          {mayManage ? (
            <NewMember key={team} team={team} mayAddServices={role === 'admin'} />
          ) : (
            <ReadOnly>
              Admins of {team} change its members; you are a {role ?? 'guest'} there.
            </ReadOnly>
          )}
        </div>
      }
    >
      <Loaded query={members} what="The members">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={`${team} has no members`} />
          ) : (
            <Table
              label={`Members of ${team}`}
              headings={['User', 'Kind', ...(me.is_operator ? ['Mail address'] : []), 'Role', '']}
              rows={rows.map((member) => ({
                key: member.user,
                cells: [
                  <Name key="name" member={member} />,
                  member.kind === 'service' ? 'service account' : 'person',
                  ...(me.is_operator ? [member.email ?? '–'] : []),
                  mayManage ? <RoleSelect key="role" team={team} member={member} /> : member.role,
                  mayManage && (
                    <span key="changes" className="inline-flex gap-1.5">
                      {member.kind === 'service' && (
                        <Link
                          to="/settings"
                          search={{ tab: 'keys', account: member.user }}
                          aria-label={`Keys of ${member.user}`}
                          className={buttonLook('plain', 'small')}
                        >
                          Keys
                        </Link>
                      )}
                      <Button
                        size="small"
                        aria-label={`Remove ${member.user}`}
                        onClick={() => setRemoving(member.user)}
                      >
                        Remove
                      </Button>
                    </span>
                  ),
                ],
              }))}
            />
          )
        }
      </Loaded>
      <ConfirmDialog
        title={`Remove ${removing ?? ''} from ${team}?`}
        consequence={`The projects of ${team} are no longer seen by this user, whose keys are refused there at once.`}
        action="Remove"
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onConfirm={() => {
          if (removing !== undefined) remove.mutate(removing)
        }}
      />
    </Section>
  )
}

function Name({ member: { user, disabled } }: { member: Member }) {
  return (
    <span className="inline-flex items-center gap-2">
      {user}
      {disabled && <Badge tone="warn">disabled</Badge>}
    </span>
  )
}

function RoleSelect({ team, member: { user, role } }: { team: string; member: Member }) {
  const set = useChange((next: Member['role']) => setMember(team, user, next), {
    failed: 'The role was not changed',
  })
  return (
    <Select
      label={`Role of ${user}`}
      className="w-52"
      value={role}
      options={ROLES}
      onChange={(next) => set.mutate(next)}
    />
  )
}
