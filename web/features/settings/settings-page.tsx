import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type MeRes, meQuery } from '../../api/accounts.ts'
import { signOut } from '../../api/key.ts'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { CodeBlock, EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { type Tab, Tabs } from '../../components/tabs.tsx'
import { AuditTab } from './audit-tab.tsx'
import { KeysTab } from './keys-tab.tsx'
import { MembersTab } from './members-tab.tsx'
import type { SettingsTab } from './search.ts'
import { UsersTab } from './users-tab.tsx'

const route = getRouteApi('/settings')

/** Keys, members, users and the audit record of a server with accounts. */
export function SettingsPage() {
  const { data: me, error, refetch } = useQuery(meQuery)
  return (
    <Page
      title="Settings"
      actions={
        me?.auth === 'keys' && (
          <>
            <span className="text-xs text-muted max-md:hidden">signed in as {me.user}</span>
            <Button size="small" onClick={() => void signOut()}>
              Sign out
            </Button>
          </>
        )
      }
    >
      {error !== null && me === undefined && (
        <ErrorState title="The settings could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {error === null && me === undefined && <Skeleton className="m-4 h-64" />}
      {me?.auth === 'local' && <LocalMode />}
      {me?.auth === 'keys' && <Accounts me={me} />}
    </Page>
  )
}

function LocalMode() {
  return (
    <EmptyState title="This server has one user">
      <p>It accepts any key, from this machine alone. To serve a team, start it with accounts:</p>
      <CodeBlock code="HEDDLE_AUTH=keys npm start" label="the command" />
      <p>It then prints a link that signs the first operator in, who adds users and teams here.</p>
    </EmptyState>
  )
}

function Accounts({ me }: { me: MeRes }) {
  const { tab, team } = route.useSearch()
  const navigate = route.useNavigate()
  const entity = me.entities.some(({ name }) => name === team) || me.is_operator ? team : ''
  const chosen = entity === '' ? me.default_entity : entity
  const choose = (name: string) => void navigate({ search: (search) => ({ ...search, team: name }) })
  const tabs: Tab<SettingsTab>[] = [
    { value: 'keys', label: 'Keys', content: <KeysTab me={me} /> },
    { value: 'members', label: 'Members', content: <MembersTab me={me} team={chosen} onTeam={choose} /> },
    ...(me.is_operator ? [{ value: 'users' as const, label: 'Users', content: <UsersTab me={me} /> }] : []),
    { value: 'audit', label: 'Audit', content: <AuditTab me={me} team={entity} onTeam={choose} /> },
  ]
  return (
    <Tabs
      label="Settings"
      className="min-h-0 flex-1"
      tabs={tabs}
      value={tabs.some(({ value }) => value === tab) ? tab : 'keys'}
      onChange={(value) => void navigate({ search: (search) => ({ ...search, tab: value }) })}
    />
  )
}
