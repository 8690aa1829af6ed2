import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type MeRes, roleIn } from '../../api/accounts.ts'
import { projectId, projectsQuery } from '../../api/project.ts'
import { buttonLook } from '../../components/button.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Loaded, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'

/** The projects that the person sees, with the ways to their settings. */
export function ProjectsTab({ me }: { me: MeRes }) {
  const projects = useQuery(projectsQuery)
  return (
    <Section
      title="Projects"
      about="What of a project is never stored, how long it is kept, and its erasure."
    >
      <Loaded query={projects} what="The projects">
        {(names) =>
          names.length === 0 ? (
            <EmptyState title="No projects yet">
              <p>A project is made by the first data that is sent to it.</p>
            </EmptyState>
          ) : (
            <Table
              label="Projects"
              headings={me.auth === 'keys' ? ['Project', 'Your role', ''] : ['Project', '']}
              rows={names.map((name) => {
                const id = projectId(name)
                const link = (
                  <Link
                    key="settings"
                    to="/$entity/$project/settings"
                    params={name}
                    aria-label={`Settings of ${id}`}
                    className={buttonLook('plain', 'small')}
                  >
                    Settings
                  </Link>
                )
                return {
                  key: id,
                  cells: me.auth === 'keys' ? [id, roleIn(me, name.entity), link] : [id, link],
                }
              })}
            />
          )
        }
      </Loaded>
    </Section>
  )
}
