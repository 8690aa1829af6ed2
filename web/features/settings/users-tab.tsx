import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { changeUser, createUser, type MeRes, signInLink, usersQuery } from '../../api/accounts.ts'
import { Button } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { CodeBlock } from '../../components/states.tsx'
import { Loaded, Section } from './section.tsx'
import { Table } from './table.tsx'
import { useChange } from './use-change.ts'

/** Everybody who may sign in to the server; for its operators. */
export function UsersTab({ me }: { me: MeRes }) {
  const users = useQuery(usersQuery)
  const [name, setName] = useState('')
  const [link, setLink] = useState<{ user: string; url: string }>()
  const create = useChange(createUser, {
    failed: 'The user was not added',
    onDone: (user) => {
      setName('')
      setLink({ user: user.name, url: user.sign_in_url })
    },
  })
  const renew = useChange(async (user: string) => ({ user, url: await signInLink(user) }), {
    failed: 'No link was made',
    onDone: setLink,
  })
  const change = useChange(
    ({ user, ...body }: { user: string; is_operator?: boolean; disabled?: boolean }) =>
      changeUser(user, body),
    { failed: 'The user was not changed' },
  )
  return (
    <Section
      about="Each user signs in by a link that works once, within two days. Operators see and change the server itself."
      form={
        <div className="flex flex-col gap-3">
          <form
            className="flex flex-wrap items-center gap-2"
            onSubmit={(event) => {
              event.preventDefault()
              create.mutate(name.trim())
            }}
          >
            <Input label="Name of a new user" placeholder="Name" value={name} onValueChange={setName} />
            <Button type="submit" look="primary" disabled={name.trim() === '' || create.isPending}>
              Add user
            </Button>
          </form>
          {link !== undefined && (
            <div role="status" className="flex max-w-2xl flex-col gap-1">
              <p className="text-normal">The sign-in link of {link.user}. It is not shown again:</p>
              <CodeBlock code={link.url} label="the link" />
            </div>
          )}
        </div>
      }
    >
      <Loaded query={users} what="The users">
        {(rows) => (
          <Table
            label="Users"
            headings={['Name', 'Kind', 'Mail address', 'Operator', '']}
            rows={rows.map((user) => ({
              key: user.id,
              cells: [
                user.disabled_at === null ? user.name : `${user.name} (disabled)`,
                user.kind === 'service' ? 'service account' : 'person',
                user.email ?? '',
                user.is_operator ? 'yes' : 'no',
                user.name !== me.user && (
                  <span key="changes" className="flex gap-1.5">
                    <Button
                      size="small"
                      aria-label={`New link for ${user.name}`}
                      onClick={() => renew.mutate(user.name)}
                    >
                      New link
                    </Button>
                    <Button
                      size="small"
                      aria-label={`${user.is_operator ? 'Make no operator' : 'Make operator'}: ${user.name}`}
                      onClick={() => change.mutate({ user: user.name, is_operator: !user.is_operator })}
                    >
                      {user.is_operator ? 'Make no operator' : 'Make operator'}
                    </Button>
                    <Button
                      size="small"
                      aria-label={`${user.disabled_at === null ? 'Disable' : 'Enable'} ${user.name}`}
                      onClick={() => change.mutate({ user: user.name, disabled: user.disabled_at === null })}
                    >
                      {user.disabled_at === null ? 'Disable' : 'Enable'}
                    </Button>
                  </span>
                ),
              ],
            }))}
          />
        )}
      </Loaded>
    </Section>
  )
}
