import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  addServiceAccount,
  createTeam,
  type Member,
  type MeRes,
  membersQuery,
  removeMember,
  setMember,
  teamsQuery,
} from '../../api/accounts.ts'
import { Button } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { Select } from '../../components/select.tsx'
import { Loaded, Section } from './section.tsx'
import { Table } from './table.tsx'
import { useChange } from './use-change.ts'

const ROLES: readonly { value: Member['role']; label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'member', label: 'Member: writes and trains' },
  { value: 'admin', label: 'Admin: manages' },
]

interface TeamProps {
  me: MeRes
  team: string
  onTeam: (name: string) => void
}

/** Who belongs to a team, and as what. */
export function MembersTab({ me, team, onTeam }: TeamProps) {
  const members = useQuery(membersQuery(team))
  const isAdmin = me.entities.some(({ name, role }) => name === team && role === 'admin')
  const set = useChange(
    ({ user, role }: { user: string; role: Member['role'] }) => setMember(team, user, role),
    {
      failed: 'The role was not changed',
    },
  )
  const remove = useChange((user: string) => removeMember(team, user), {
    failed: 'The member was not removed',
  })
  return (
    <Section
      about="Members see the projects of a team; what else they may do is their role. Service accounts are users for programs."
      form={
        <div className="flex flex-col gap-2">
          <div className="flex flex-wrap items-center gap-2">
            <TeamSelect team={team} onTeam={onTeam} />
            {me.is_operator && <NewTeam onTeam={onTeam} />}
          </div>
          {isAdmin || me.is_operator ? (
            <NewMember team={team} />
          ) : (
            <p className="text-muted">Admins of {team} change its members.</p>
          )}
        </div>
      }
    >
      <Loaded query={members} what="The members">
        {(rows) => (
          <Table
            label={`Members of ${team}`}
            headings={['User', 'Kind', 'Role', '']}
            rows={rows.map(({ user, kind, role, disabled }) => ({
              key: user,
              cells: [
                disabled ? `${user} (disabled)` : user,
                kind === 'service' ? 'service account' : 'person',
                isAdmin || me.is_operator ? (
                  <Select
                    key="role"
                    label={`Role of ${user}`}
                    value={role}
                    options={ROLES}
                    onChange={(next) => set.mutate({ user, role: next })}
                  />
                ) : (
                  role
                ),
                (isAdmin || me.is_operator) && (
                  <Button
                    key="remove"
                    size="small"
                    aria-label={`Remove ${user}`}
                    onClick={() => remove.mutate(user)}
                  >
                    Remove
                  </Button>
                ),
              ],
            }))}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** Which team is shown. */
export function TeamSelect({ team, onTeam, all }: Omit<TeamProps, 'me'> & { all?: string }) {
  const teams = useQuery(teamsQuery)
  const names = [...new Set([...(teams.data ?? []).map(({ name }) => name), ...(team === '' ? [] : [team])])]
  const options = names.map((name) => ({ value: name, label: name }))
  return (
    <Select
      label="Team"
      value={team}
      options={all === undefined ? options : [{ value: '', label: all }, ...options]}
      onChange={onTeam}
    />
  )
}

function NewTeam({ onTeam }: { onTeam: (name: string) => void }) {
  const [name, setName] = useState('')
  const create = useChange(createTeam, {
    failed: 'The team was not added',
    onDone: (team) => {
      setName('')
      onTeam(team.name)
    },
  })
  return (
    <form
      className="flex items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate(name.trim())
      }}
    >
      <Input label="Name of a new team" placeholder="New team" value={name} onValueChange={setName} />
      <Button type="submit" disabled={name.trim() === '' || create.isPending}>
        Add team
      </Button>
    </form>
  )
}

function NewMember({ team }: { team: string }) {
  const [user, setUser] = useState('')
  const [role, setRole] = useState<Member['role']>('member')
  const done = { onDone: () => setUser('') }
  const add = useChange(() => setMember(team, user.trim(), role), {
    failed: 'The member was not added',
    ...done,
  })
  const service = useChange(() => addServiceAccount(team, user.trim()), {
    failed: 'The service account was not added',
    ...done,
  })
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate(undefined)
      }}
    >
      <Input label="User" placeholder="User" value={user} onValueChange={setUser} />
      <Select label="Role of the new member" value={role} options={ROLES} onChange={setRole} />
      <Button type="submit" look="primary" disabled={user.trim() === '' || add.isPending}>
        Add member
      </Button>
      <Button disabled={user.trim() === '' || service.isPending} onClick={() => service.mutate(undefined)}>
        Add as service account
      </Button>
    </form>
  )
}
