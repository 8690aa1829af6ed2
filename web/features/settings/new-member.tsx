import { useState } from 'react'
import { addServiceAccount, type Member, setMember } from '../../api/accounts.ts'
import { Button } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { Select } from '../../components/select.tsx'
import { useChange } from './parts/use-change.ts'
import { ROLES } from './roles.ts'

type Kind = 'person' | 'service'

const KINDS: readonly { value: Kind; label: string }[] = [
  { value: 'person', label: 'User of this server' },
  { value: 'service', label: 'New service account' },
]

interface NewMemberProps {
  team: string
  /** Operators add people to any team; service accounts are of its admins. */
  mayAddServices: boolean
}

/** Adds a user or a new service account to a team. */
export function NewMember({ team, mayAddServices }: NewMemberProps) {
  const [kind, setKind] = useState<Kind>('person')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Member['role']>('member')
  const add = useChange(
    () =>
      kind === 'person' ? setMember(team, name.trim(), role) : addServiceAccount(team, name.trim(), role),
    { failed: 'The member was not added', onDone: () => setName('') },
  )
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate(undefined)
      }}
    >
      {mayAddServices && (
        <Select label="Kind of the new member" value={kind} options={KINDS} onChange={setKind} />
      )}
      <Input
        label="Name of the new member"
        className="max-md:w-full"
        placeholder="Name"
        value={name}
        onValueChange={setName}
      />
      <Select label="Role of the new member" value={role} options={ROLES} onChange={setRole} />
      <Button type="submit" look="primary" disabled={name.trim() === '' || add.isPending}>
        Add member
      </Button>
    </form>
  )
}
