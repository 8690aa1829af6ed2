import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createTeam, type MeRes, roleIn, type Team, teamsQuery } from '../../api/accounts.ts'
import { eraseTeam } from '../../api/retention.ts'
import { Button, buttonLook } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { Time } from '../../components/time.tsx'
import { ConfirmByName } from './confirm-by-name.tsx'
import { LoadedList, ReadOnly, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'
import { useChange } from './parts/use-change.ts'

/** Teams, and the entities of single users. */
export function TeamsTab({ me }: { me: MeRes }) {
  const teams = useInfiniteQuery(teamsQuery)
  const navigate = useNavigate()
  const [erasing, setErasing] = useState<Team>()
  const erase = useChange(eraseTeam, {
    failed: 'The erasure was not begun',
    changes: [['accounts'], ['projects']],
    onDone: ({ id }) => void navigate({ to: '/settings', search: { tab: 'erasures', open: id } }),
  })
  return (
    <Section
      title="Teams"
      about="Projects belong to a team, or to the entity of one user. No team sees or learns of another."
      form={me.is_operator ? <NewTeam me={me} /> : <ReadOnly>Operators of this server add teams.</ReadOnly>}
    >
      <LoadedList query={teams} what="The teams" empty="You belong to no team">
        {(rows) => (
          <Table
            label="Teams"
            headings={['Name', 'Kind', 'Your role', 'Made', '']}
            rows={rows.map((team) => ({
              key: team.name,
              cells: [
                team.name,
                team.kind === 'personal' ? 'one user' : 'team',
                roleIn(me, team.name) ?? 'none',
                <Time key="made" iso={team.created_at} />,
                <span key="changes" className="inline-flex gap-1.5">
                  <Link
                    to="/settings"
                    search={{ tab: 'members', team: team.name }}
                    aria-label={`Members of ${team.name}`}
                    className={buttonLook('plain', 'small')}
                  >
                    Members
                  </Link>
                  {team.kind === 'team' && (me.is_operator || roleIn(me, team.name) === 'admin') && (
                    <Button
                      size="small"
                      look="danger"
                      aria-label={`Erase ${team.name}`}
                      onClick={() => setErasing(team)}
                    >
                      Erase …
                    </Button>
                  )}
                </span>,
              ],
            }))}
          />
        )}
      </LoadedList>
      <ConfirmByName
        title={`Erase the team ${erasing?.name ?? ''}?`}
        name={erasing?.name ?? ''}
        consequence="All its projects, with everything in them, its members’ rights to them and its service accounts are erased. This cannot be undone."
        action="Erase the team"
        isOpen={erasing !== undefined}
        onClose={() => setErasing(undefined)}
        onConfirm={() => {
          if (erasing !== undefined) erase.mutate(erasing.name)
        }}
      />
    </Section>
  )
}

function NewTeam({ me }: { me: MeRes }) {
  const [name, setName] = useState('')
  const [admin, setAdmin] = useState('')
  const create = useChange(createTeam, {
    failed: 'The team was not added',
    onDone: () => {
      setName('')
      setAdmin('')
    },
  })
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({ name: name.trim(), ...(admin.trim() !== '' && { admin: admin.trim() }) })
      }}
    >
      <Input
        label="Name of a new team"
        className="max-md:w-full"
        placeholder="New team"
        value={name}
        onValueChange={setName}
      />
      <Input
        label="Admin of the new team"
        className="max-md:w-full"
        placeholder={`Admin: ${me.user}`}
        value={admin}
        onValueChange={setAdmin}
      />
      <Button type="submit" look="primary" disabled={name.trim() === '' || create.isPending}>
        Add team
      </Button>
    </form>
  )
}
