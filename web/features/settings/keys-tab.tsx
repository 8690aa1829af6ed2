import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type ApiKey,
  createKey,
  type KeyCreateReq,
  keysQuery,
  type MeRes,
  revokeKey,
} from '../../api/accounts.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Input } from '../../components/input.tsx'
import { Select } from '../../components/select.tsx'
import { CodeBlock } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { Loaded, Section } from './section.tsx'
import { Table } from './table.tsx'
import { useChange } from './use-change.ts'

const SCOPES: readonly { value: KeyCreateReq['scope']; label: string }[] = [
  { value: 'all', label: 'Everything' },
  { value: 'read', label: 'Read only' },
  { value: 'ingest', label: 'Ingest only' },
  { value: 'inference', label: 'Inference only' },
]

/** The person's API keys. */
export function KeysTab({ me }: { me: MeRes }) {
  const keys = useQuery(keysQuery(me.user))
  const [revoking, setRevoking] = useState<ApiKey>()
  const revoke = useChange((id: string) => revokeKey(id), { failed: 'The key was not revoked' })
  return (
    <Section
      about="Programs show a key with each request. A key can do what you can, within its limits. It is shown once."
      form={<NewKey />}
    >
      <Loaded query={keys} what="The keys">
        {(rows) => (
          <Table
            label="Keys"
            headings={['Name', 'Prefix', 'May', 'Project', 'Expires', 'Last used', '']}
            rows={rows.map((row) => ({
              key: row.id,
              cells: [
                row.name,
                <code key="prefix" className="font-mono text-xs">
                  {row.prefix}
                </code>,
                SCOPES.find(({ value }) => value === row.scope)?.label,
                row.project_id ?? 'all',
                row.expires_at === null ? 'never' : <Time key="expires" iso={row.expires_at} />,
                row.last_used_at === null ? 'never' : <Time key="used" iso={row.last_used_at} />,
                <Button
                  key="revoke"
                  size="small"
                  aria-label={`Revoke ${row.name}`}
                  onClick={() => setRevoking(row)}
                >
                  Revoke
                </Button>,
              ],
            }))}
          />
        )}
      </Loaded>
      <ConfirmDialog
        title={`Revoke ${revoking?.name ?? ''}?`}
        consequence="Programs with this key are refused at once. It cannot be taken back."
        action="Revoke"
        isOpen={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        onConfirm={() => {
          if (revoking !== undefined) revoke.mutate(revoking.id)
        }}
      />
    </Section>
  )
}

/** Makes a key and shows it. */
function NewKey() {
  const [name, setName] = useState('')
  const [project, setProject] = useState('')
  const [scope, setScope] = useState<KeyCreateReq['scope']>('all')
  const create = useChange(createKey, {
    failed: 'The key was not made',
    onDone: () => {
      setName('')
      setProject('')
    },
  })
  return (
    <div className="flex flex-col gap-3">
      <form
        className="flex flex-wrap items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate({
            name: name.trim(),
            scope,
            ...(project.trim() !== '' && { project_id: project.trim() }),
          })
        }}
      >
        <Input label="Name of the key" placeholder="What it is for" value={name} onValueChange={setName} />
        <Select label="What the key may do" value={scope} options={SCOPES} onChange={setScope} />
        <Input
          label="Only project"
          placeholder="All projects, or team/project"
          value={project}
          onValueChange={setProject}
        />
        <Button type="submit" look="primary" disabled={name.trim() === '' || create.isPending}>
          Make a key
        </Button>
      </form>
      {create.data !== undefined && (
        <div role="status" className="flex max-w-2xl flex-col gap-1">
          <p className="text-normal">The key {create.data.name}. It is not shown again:</p>
          <CodeBlock code={create.data.key} label="the key" />
        </div>
      )}
    </div>
  )
}
