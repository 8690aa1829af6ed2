import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { type ProjectName, projectId, projectsQuery } from '../api/project.ts'
import type { Command } from '../components/command-palette.tsx'
import { EarlyPalette } from '../components/early-palette.tsx'
import { lazyPart } from '../components/lazy-part.ts'
import { PLACES, type Place } from './navigation.ts'
import { chooseTheme } from './theme.ts'

const load = async () => (await import('../components/command-palette.tsx')).CommandPalette

// It opens by a key, so it is not part of the first load.
const CommandPalette = lazyPart(load)

/** Loads the palette before it is opened. */
export async function prefetchPalette(): Promise<void> {
  await load()
}

interface PaletteProps {
  project: ProjectName | undefined
  onPlace: (place: Place) => void
  onKeys: () => void
  onClose: () => void
}

/** The commands that work everywhere, and the ways to all projects. */
export function Palette({ project, onPlace, onKeys, onClose }: PaletteProps) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const projects = useFoundProjects(text.replace(/^open\s+/i, '').trim())
  const commands: Command[] = [
    ...PLACES.map((place) => ({ label: `Go to ${place.name}`, hint: place.keys, run: () => onPlace(place) })),
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
    { label: 'Show the keys', hint: '?', run: onKeys },
  ]
  const shared = { text, onText: setText, onClose }
  return (
    <Suspense fallback={<EarlyPalette {...shared} />}>
      <CommandPalette commands={commands} {...shared} />
    </Suspense>
  )
}

/** The projects used last, and where there are more, those that the server finds by name. */
function useFoundProjects(find: string): ProjectName[] {
  const { data: { names, hasMore } = { names: [], hasMore: false } } = useQuery(projectsQuery())
  const { data: found } = useQuery({ ...projectsQuery(find), enabled: hasMore && find !== '' })
  const byId = new Map([...names, ...(found?.names ?? [])].map((name) => [projectId(name), name]))
  return [...byId.values()]
}
