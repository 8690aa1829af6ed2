import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type MeRes, type User, usersQuery } from '../../api/accounts.ts'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { NewUser } from './new-user.tsx'
import { LoadedList, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'
import { type MadeLink, ShownOnce } from './shown-once.tsx'
import { UserMenu } from './user-menu.tsx'

/** Everybody who may sign in to the server; for its operators. */
export function UsersTab({ me }: { me: MeRes }) {
  const users = useInfiniteQuery(usersQuery)
  const [link, setLink] = useState<MadeLink>()
  return (
    <Section
      title="Users"
      about="Each user signs in by a link that works once, within two days. Operators see and change the server itself."
      form={
        <div className="flex flex-col gap-3">
          <NewUser onLink={setLink} />
          {link !== undefined && (
            <ShownOnce
              what="the sign-in link"
              name={link.user}
              secret={link.url}
              onDone={() => setLink(undefined)}
            />
          )}
        </div>
      }
    >
      <LoadedList query={users} what="The users" empty="No users yet">
        {(rows) => (
          <Table
            label="Users"
            headings={['Name', 'Kind', 'Mail address', 'Added', '']}
            rows={rows.map((user) => ({
              key: user.id,
              cells: [
                <Name key="name" user={user} />,
                user.kind === 'service' ? 'service account' : 'person',
                user.email ?? '–',
                <Time key="added" iso={user.created_at} />,
                user.name === me.user ? (
                  <span key="you" className="text-muted">
                    you
                  </span>
                ) : (
                  <UserMenu key="menu" user={user} onLink={setLink} />
                ),
              ],
            }))}
          />
        )}
      </LoadedList>
    </Section>
  )
}

function Name({ user }: { user: User }) {
  return (
    <span className="inline-flex items-center gap-2">
      {user.name}
      {user.is_operator && <Badge>operator</Badge>}
      {user.disabled_at !== null && <Badge tone="warn">disabled</Badge>}
    </span>
  )
}
