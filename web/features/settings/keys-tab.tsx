import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ApiKey, type KeyCreateRes, keysQuery, type MeRes, revokeKey } from '../../api/accounts.ts'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { NewKey } from './new-key.tsx'
import { LoadedList, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'
import { useChange } from './parts/use-change.ts'
import { SCOPES } from './scopes.ts'
import { ShownOnce } from './shown-once.tsx'

interface KeysTabProps {
  me: MeRes
  /** A service account; empty for the person. */
  account: string
  /** Back to the person's own keys. */
  onOwn: () => void
}

/** API keys of the person, or of a service account. */
export function KeysTab({ me, account, onOwn }: KeysTabProps) {
  const user = account === '' ? me.user : account
  const keys = useInfiniteQuery(keysQuery(user))
  const [made, setMade] = useState<KeyCreateRes>()
  const [revoking, setRevoking] = useState<ApiKey>()
  const revoke = useChange((id: string) => revokeKey(id), { failed: 'The key was not revoked' })
  return (
    <Section
      title={account === '' ? 'Your keys' : `Keys of ${account}`}
      about={
        account === ''
          ? 'Programs send a key with each request. A key may do what you may, within its limits.'
          : 'Programs of a team send these keys. Each may do what the service account may, within its limits.'
      }
      form={
        <div className="flex flex-col gap-3">
          {account !== '' && (
            <Button className="self-start" onClick={onOwn}>
              Show your own keys
            </Button>
          )}
          <NewKey key={user} user={account === '' ? undefined : account} onMade={setMade} />
          {made !== undefined && made.user === user && (
            <ShownOnce what="the key" name={made.name} secret={made.key} onDone={() => setMade(undefined)} />
          )}
        </div>
      }
    >
      <LoadedList query={keys} what="The keys" empty="No keys yet">
        {(rows) => (
          <Table
            label="Keys"
            headings={['Name', 'Id', 'Begins with', 'May', 'Project', 'Made', 'Expires', 'Last used', '']}
            rows={rows.map((row) => ({
              key: row.id,
              cells: [
                row.name,
                <Id key="id" id={row.id} />,
                <code key="prefix" className="font-mono text-xs">
                  {row.prefix}
                </code>,
                SCOPES.find(({ value }) => value === row.scope)?.label,
                row.project_id ?? 'all',
                <Time key="made" iso={row.created_at} />,
                <Expiry key="expires" at={row.expires_at} />,
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
      </LoadedList>
      <ConfirmDialog
        title={`Revoke ${revoking?.name ?? ''}?`}
        consequence="Programs with this key are refused at once. This cannot be undone."
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

function Expiry({ at }: { at: string | null }) {
  if (at === null) return 'never'
  if (Date.parse(at) < Date.now()) return <Badge tone="warn">expired</Badge>
  return <time dateTime={at}>{at.slice(0, 10)}</time>
}
