import { useState } from 'react'
import { createUser } from '../../api/accounts.ts'
import { Button } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { Select } from '../../components/select.tsx'
import { useChange } from './parts/use-change.ts'
import type { MadeLink } from './shown-once.tsx'

type Kind = 'user' | 'operator'

const KINDS: readonly { value: Kind; label: string }[] = [
  { value: 'user', label: 'User' },
  { value: 'operator', label: 'Operator' },
]

/** Adds a user, who signs in by a link. */
export function NewUser({ onLink }: { onLink: (link: MadeLink) => void }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [kind, setKind] = useState<Kind>('user')
  const create = useChange(createUser, {
    failed: 'The user was not added',
    onDone: (user) => {
      setName('')
      setEmail('')
      setKind('user')
      onLink({ user: user.name, url: user.sign_in_url })
    },
  })
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({
          name: name.trim(),
          is_operator: kind === 'operator',
          ...(email.trim() !== '' && { email: email.trim() }),
        })
      }}
    >
      <Input
        label="Name of a new user"
        className="max-md:w-full"
        placeholder="Name"
        value={name}
        onValueChange={setName}
      />
      <Input
        label="Mail address of the new user"
        className="max-md:w-full"
        placeholder="Mail address, if any"
        type="email"
        value={email}
        onValueChange={setEmail}
      />
      <Select label="What the new user is" value={kind} options={KINDS} onChange={setKind} />
      <Button type="submit" look="primary" disabled={name.trim() === '' || create.isPending}>
        Add user
      </Button>
    </form>
  )
}
