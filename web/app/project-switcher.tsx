import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronsUpDown } from 'lucide-react'
import { useState } from 'react'
import { isSignedIn } from '../api/key.ts'
import { type ProjectName, projectId, projectsQuery } from '../api/project.ts'
import { Menu } from '../components/menu.tsx'

/** Which project is open, and the way to another one. */
export function ProjectSwitcher({
  project,
  onFind,
}: {
  project: ProjectName | undefined
  /** Opens the palette, which finds any project. */
  onFind: () => void
}) {
  // Every page has the switcher, and the list costs the server a scan over every call.
  const [isWanted, setWanted] = useState(false)
  const { data: projects } = useQuery({ ...projectsQuery(), enabled: isWanted })
  const navigate = useNavigate()
  const current = project && projectId(project)
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`Project: ${current ?? 'none yet'}`}
          onPointerEnter={() => setWanted(true)}
          onFocus={() => setWanted(true)}
          className="flex h-9 min-w-0 flex-1 items-center gap-1 rounded-md px-2 text-start hover:bg-hover"
        >
          <span className="min-w-0 flex-1">
            {isSignedIn() && project !== undefined && (
              <span className="block truncate text-2xs text-muted">{project.entity}</span>
            )}
            <span className="block truncate text-sm font-strong text-strong">
              {project?.project ?? 'No project yet'}
            </span>
          </span>
          <ChevronsUpDown size={14} className="shrink-0 text-muted" aria-hidden />
        </button>
      }
      groups={[
        {
          label: 'Projects',
          entries: (projects?.names ?? []).map((name) => ({
            label: projectId(name),
            isChosen: projectId(name) === current,
            onSelect: () => void navigate({ to: '/$entity/$project/traces', params: name }),
          })),
        },
        {
          entries: [
            ...(projects?.hasMore === true ? [{ label: 'Find another project', onSelect: onFind }] : []),
            { label: 'All projects', onSelect: () => void navigate({ to: '/' }) },
            ...(project === undefined
              ? []
              : [
                  {
                    label: 'Settings of this project',
                    onSelect: () => void navigate({ to: '/$entity/$project/settings', params: project }),
                  },
                ]),
          ],
        },
      ]}
    />
  )
}
