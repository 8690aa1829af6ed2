import { Outlet, useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useKeys } from '../components/keys.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { useCurrentProject } from './current-project.ts'
import { PLACES, type Place } from './navigation.ts'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'

// It opens by a key, so it is not part of the first load.
const KeysSheet = lazyPart(async () => (await import('../components/keys-sheet.tsx')).KeysSheet)

/** What surrounds every page: the rail, and the keys and commands that work everywhere. */
export function Frame() {
  const project = useCurrentProject()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'keys' | 'palette' | undefined>()
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
  return (
    <div className="flex h-full max-md:flex-col-reverse">
      <Rail project={project} onPalette={() => setOpen('palette')} onKeys={() => setOpen('keys')} />
      <main className="flex min-h-0 min-w-0 flex-1 flex-col bg-bg">
        <ConnectionBanner />
        <div className="min-h-0 flex-1">
          <Outlet />
        </div>
      </main>
      {open === 'palette' && (
        <Palette project={project} onPlace={go} onKeys={() => setOpen('keys')} onClose={close} />
      )}
      <Suspense>{open === 'keys' && <KeysSheet isOpen onClose={close} />}</Suspense>
    </div>
  )
}
