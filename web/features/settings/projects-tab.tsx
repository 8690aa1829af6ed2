import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type MeRes, roleIn } from '../../api/accounts.ts'
import { projectId, projectsQuery } from '../../api/project.ts'
import { buttonLook } from '../../components/button.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Loaded, Section } from './section.tsx'
import { Table } from './table.tsx'

const PARTS = [
  { tab: 'redaction', label: 'Redaction' },
  { tab: 'retention', label: 'Retention' },
  { tab: 'erasure', label: 'Erasure' },
] as const

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
                const links = (
                  <span key="parts" className="inline-flex gap-1.5 max-sm:flex-col">
                    {PARTS.map(({ tab, label }) => (
                      <Link
                        key={tab}
                        to="/$entity/$project/settings"
                        params={name}
                        search={{ tab }}
                        aria-label={`${label} of ${id}`}
                        className={buttonLook('plain', 'small')}
                      >
                        {label}
                      </Link>
                    ))}
                  </span>
                )
                return {
                  key: id,
                  cells: me.auth === 'keys' ? [id, roleIn(me, name.entity), links] : [id, links],
                }
              })}
            />
          )
        }
      </Loaded>
    </Section>
  )
}
