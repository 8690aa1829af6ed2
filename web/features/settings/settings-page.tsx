import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MeRes } from '../../api/accounts.ts'
import { CodeBlock, EmptyState } from '../../components/states.tsx'
import { AuditTab } from './audit-tab.tsx'
import { BudgetsTab } from './budgets-tab.tsx'
import { ErasuresTab } from './erasures-tab.tsx'
import { KeysTab } from './keys-tab.tsx'
import { LimitsTab } from './limits-tab.tsx'
import { MembersTab } from './members-tab.tsx'
import { ProjectsTab } from './projects-tab.tsx'
import { ProvidersTab } from './providers-tab.tsx'
import type { SettingsTab } from './search.ts'
import { SettingsFrame } from './settings-frame.tsx'
import { TeamsTab } from './teams-tab.tsx'
import { UsersTab } from './users-tab.tsx'

const route = getRouteApi('/settings')

/** Keys, teams, users and the audit record of a server with accounts, and what concerns all projects. */
export function SettingsPage() {
  const { tab } = route.useSearch()
  return (
    <SettingsFrame title="Settings" here={tab}>
      {(me) => <Content me={me} />}
    </SettingsFrame>
  )
}

function Content({ me }: { me: MeRes }) {
  const { tab, team, account } = route.useSearch()
  const navigate = route.useNavigate()
  const ofTeam = {
    me,
    team: team === '' ? me.default_entity : team,
    onTeam: (name: string) => void navigate({ search: { tab, team: name } }),
  }
  const contents: Record<SettingsTab, () => ReactNode> = {
    keys: () => (
      <KeysTab me={me} account={account} onOwn={() => void navigate({ search: { tab: 'keys' } })} />
    ),
    members: () => <MembersTab {...ofTeam} />,
    limits: () => <LimitsTab {...ofTeam} />,
    budgets: () => <BudgetsTab {...ofTeam} />,
    providers: () => <ProvidersTab {...ofTeam} />,
    teams: () => <TeamsTab me={me} />,
    users: () => (me.is_operator ? <UsersTab me={me} /> : <ForOperators />),
    audit: () => <AuditTab me={me} />,
    projects: () => <ProjectsTab me={me} />,
    erasures: () => <ErasuresTab me={me} />,
  }
  const hasAccounts = me.auth === 'keys' || tab === 'projects' || tab === 'erasures'
  return hasAccounts ? contents[tab]() : <LocalMode />
}

function ForOperators() {
  return <EmptyState title="Operators of this server see and add its users" />
}

function LocalMode() {
  return (
    <EmptyState title="This server has one user">
      <p>It accepts any key. To serve a team, start it with accounts:</p>
      <CodeBlock code="HEDDLE_AUTH=keys npm start" label="the command" />
      <p>It then prints a link that signs the first operator in, who adds users and teams here.</p>
    </EmptyState>
  )
}
