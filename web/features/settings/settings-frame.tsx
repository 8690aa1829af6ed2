import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type MeRes, meQuery } from '../../api/accounts.ts'
import type { ProjectName } from '../../api/project.ts'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { leave } from './leave.ts'
import type { ProjectSettingsTab, SettingsTab } from './search.ts'
import { SettingsNav } from './settings-nav.tsx'

interface SettingsFrameProps {
  title: string
  here: SettingsTab | ProjectSettingsTab
  project?: ProjectName
  /** What is open, once it is known who the person is. */
  children: (me: MeRes) => ReactNode
}

/** What all pages of the settings have: the way to the others, and out. */
export function SettingsFrame({ title, here, project, children }: SettingsFrameProps) {
  const { data: me, error, refetch } = useQuery(meQuery)
  return (
    <Page title={title} actions={me?.auth === 'keys' && <SignedIn name={me.user} />}>
      {error !== null && me === undefined && (
        <ErrorState title="The settings could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {error === null && me === undefined && <Skeleton className="m-4 h-64" />}
      {me !== undefined && (
        <div className="flex min-h-0 flex-1 max-md:flex-col">
          <SettingsNav me={me} here={here} project={project} />
          {children(me)}
        </div>
      )}
    </Page>
  )
}

function SignedIn({ name }: { name: string }) {
  return (
    <>
      <span className="truncate text-xs text-muted">signed in as {name}</span>
      <Button size="small" onClick={leave}>
        Sign out
      </Button>
    </>
  )
}
