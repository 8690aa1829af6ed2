import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { projectId, projectsQuery } from '../api/project.ts'
import type { Command } from '../components/command-palette.tsx'
import { useKeys } from '../components/keys.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { useCurrentProject } from './current-project.ts'
import { PLACES, type Place } from './navigation.ts'
import { Rail } from './rail.tsx'
import { chooseTheme } from './theme.ts'

// Both open by a key, so they are not part of the first load.
const CommandPalette = lazyPart(
  async () => (await import('../components/command-palette.tsx')).CommandPalette,
)
const KeysSheet = lazyPart(async () => (await import('../components/keys-sheet.tsx')).KeysSheet)

/** What surrounds every page: the rail, and the keys and commands that work everywhere. */
export function Frame() {
  const project = useCurrentProject()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'keys' | 'palette' | undefined>()
  const { data: projects = [] } = useQuery({ ...projectsQuery, enabled: open === 'palette' })
  const close = () => setOpen(undefined)
  const go = (place: Place) => {
    if (project !== undefined || !place.to.includes('$'))
      void navigate({ to: place.to, params: project ?? {} })
  }
  useKeys('Everywhere', [
    { keys: 'mod+k', does: 'Find a command', run: () => setOpen('palette') },
    { keys: '?', does: 'Show the keys', run: () => setOpen('keys') },
    ...PLACES.map((place) => ({ keys: place.keys, does: `Go to ${place.name}`, run: () => go(place) })),
  ])
  const commands: Command[] = [
    ...PLACES.map((place) => ({ label: `Go to ${place.name}`, hint: place.keys, run: () => go(place) })),
    ...(project === undefined
      ? []
      : [
          {
            label: `Settings of ${projectId(project)}`,
            run: () => void navigate({ to: '/$entity/$project/settings', params: project }),
          },
        ]),
    ...projects.map((name) => ({
      label: `Open ${projectId(name)}`,
      also: 'project',
      run: () => void navigate({ to: '/$entity/$project/traces', params: name }),
    })),
    { label: 'Light theme', run: () => chooseTheme('light') },
    { label: 'Dark theme', run: () => chooseTheme('dark') },
    { label: 'Theme of the system', run: () => chooseTheme('system') },
    { label: 'Show the keys', hint: '?', run: () => setOpen('keys') },
  ]
  return (
    <div className="flex h-full max-md:flex-col-reverse">
      <Rail project={project} onPalette={() => setOpen('palette')} onKeys={() => setOpen('keys')} />
      <main className="flex min-h-0 min-w-0 flex-1 flex-col bg-bg">
        <ConnectionBanner />
        <div className="min-h-0 flex-1">
          <Outlet />
        </div>
      </main>
      <Suspense>
        {open === 'palette' && <CommandPalette commands={commands} isOpen onClose={close} />}
        {open === 'keys' && <KeysSheet isOpen onClose={close} />}
      </Suspense>
    </div>
  )
}
