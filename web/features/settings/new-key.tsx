import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { createKey, type KeyCreateReq, type KeyCreateRes } from '../../api/accounts.ts'
import { projectId, projectsQuery } from '../../api/project.ts'
import { Button } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Input } from '../../components/input.tsx'
import { Select } from '../../components/select.tsx'
import { useChange } from './parts/use-change.ts'
import { SCOPES } from './scopes.ts'

const EXPIRIES = [
  { value: 'never', label: 'Never expires' },
  { value: '7', label: 'Expires in 7 days' },
  { value: '30', label: 'Expires in 30 days' },
  { value: '90', label: 'Expires in 90 days' },
  { value: '365', label: 'Expires in a year' },
] as const
type Expiry = (typeof EXPIRIES)[number]['value']

interface NewKeyProps {
  /** The service account that the key is for; the person where absent. */
  user: string | undefined
  onMade: (key: KeyCreateRes) => void
}

/** Makes a key. */
export function NewKey({ user, onMade }: NewKeyProps) {
  const [name, setName] = useState('')
  const [project, setProject] = useState('')
  const [scope, setScope] = useState<KeyCreateReq['scope']>('all')
  const [expiry, setExpiry] = useState<Expiry>('never')
  const { data: projects } = useQuery({ ...projectsQuery(project.trim()), placeholderData: keepPreviousData })
  const create = useChange(createKey, {
    failed: 'The key was not made',
    onDone: (key) => {
      setName('')
      onMade(key)
    },
  })
  const suggestions = (projects?.names ?? [])
    .map((one) => ({ value: projectId(one) }))
    .filter(({ value }) => value.includes(project))
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({
          name: name.trim(),
          scope,
          ...(project.trim() !== '' && { project_id: project.trim() }),
          ...(expiry !== 'never' && { expires_in_days: Number(expiry) }),
          ...(user !== undefined && { user }),
        })
      }}
    >
      <Input
        label="Name of the key"
        className="max-md:w-full"
        placeholder="What it is for"
        value={name}
        onValueChange={setName}
      />
      <Select label="What the key may do" value={scope} options={SCOPES} onChange={setScope} />
      <Combobox
        label="Only project"
        placeholder="All projects"
        className="w-52 max-md:w-full"
        value={project}
        suggestions={suggestions}
        onChange={setProject}
        onCommit={setProject}
      />
      <Select label="When the key expires" value={expiry} options={EXPIRIES} onChange={setExpiry} />
      <Button type="submit" look="primary" disabled={name.trim() === '' || create.isPending}>
        Make a key
      </Button>
    </form>
  )
}
