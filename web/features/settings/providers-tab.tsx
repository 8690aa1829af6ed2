import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type MeRes, roleIn } from '../../api/accounts.ts'
import { providersQuery, removeProvider, setProvider } from '../../api/providers.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Input } from '../../components/input.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { Loaded, ReadOnly, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'
import { useChange } from './parts/use-change.ts'
import { TeamSelect } from './team-select.tsx'

interface ProvidersTabProps {
  me: MeRes
  team: string
  onTeam: (name: string) => void
}

/** Services outside that a team may ask for completions. */
export function ProvidersTab({ me, team, onTeam }: ProvidersTabProps) {
  const providers = useQuery(providersQuery(team))
  const role = roleIn(me, team)
  const mayChange = role === 'admin'
  const [removing, setRemoving] = useState<string>()
  const remove = useChange((name: string) => removeProvider(team, name), {
    failed: 'The provider was not removed',
  })
  return (
    <Section
      title="Providers"
      about="Services with OpenAI's API that the playground and judges of a team may ask, as NAME/MODEL. Keys are stored encrypted and never shown."
      form={
        <div className="flex flex-col gap-3">
          <div className="flex">
            <TeamSelect team={team} onTeam={onTeam} />
          </div>
          {mayChange ? (
            <NewProvider key={team} team={team} />
          ) : (
            <ReadOnly>
              Admins of {team} change its providers; you are a {role ?? 'guest'} there.
            </ReadOnly>
          )}
        </div>
      }
    >
      <Loaded query={providers} what="The providers">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={`${team} has no providers`} />
          ) : (
            <Table
              label={`Providers of ${team}`}
              headings={['Name', 'Address', 'Key', 'Set by', 'Changed', '']}
              rows={rows.map(({ name, base_url, has_key, source, updated_at, updated_by }) => ({
                key: `${source}:${name}`,
                cells: [
                  name,
                  base_url,
                  has_key ? 'stored' : 'none',
                  source === 'server' ? 'the operator' : (updated_by ?? '–'),
                  updated_at === null ? '–' : <Time key="changed" iso={updated_at} />,
                  source === 'team' && mayChange && (
                    <Button
                      key="remove"
                      size="small"
                      aria-label={`Remove ${name}`}
                      onClick={() => setRemoving(name)}
                    >
                      Remove
                    </Button>
                  ),
                ],
              }))}
            />
          )
        }
      </Loaded>
      <ConfirmDialog
        title={`Remove ${removing ?? ''}?`}
        consequence="Its key is deleted, and requests for its models are refused at once."
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

function NewProvider({ team }: { team: string }) {
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [key, setKey] = useState('')
  const body = { name: name.trim(), base_url: url.trim(), ...(key !== '' && { api_key: key.trim() }) }
  const set = useChange(() => setProvider(team, body), {
    failed: 'The provider was not added',
    onDone: () => {
      setName('')
      setUrl('')
      setKey('')
    },
  })
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        set.mutate(undefined)
      }}
    >
      <Input label="Name of the provider" placeholder="Name" value={name} onValueChange={setName} />
      <Input
        label="Address"
        className="w-72 max-md:w-full"
        placeholder="https://api.example.com/v1"
        value={url}
        onValueChange={setUrl}
      />
      <Input label="Key" type="password" placeholder="Key" value={key} onValueChange={setKey} />
      <Button
        type="submit"
        look="primary"
        disabled={name.trim() === '' || url.trim() === '' || set.isPending}
      >
        Add provider
      </Button>
    </form>
  )
}
