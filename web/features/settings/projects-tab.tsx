import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type MeRes, roleIn } from '../../api/accounts.ts'
import { projectId, projectsQuery } from '../../api/project.ts'
import { buttonLook } from '../../components/button.tsx'
import { formatCount } from '../../components/format.ts'
import { Input } from '../../components/input.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Loaded, Section } from './parts/section.tsx'
import { Table } from './parts/table.tsx'

/** The projects that the person sees, with the ways to their settings. */
export function ProjectsTab({ me }: { me: MeRes }) {
  const [find, setFind] = useState('')
  const projects = useQuery({ ...projectsQuery(find), placeholderData: keepPreviousData })
  return (
    <Section
      title="Projects"
      about="What of a project is never stored, how long it is kept, and its erasure."
      form={
        (projects.data?.hasMore === true || find !== '') && (
          <div className="flex flex-wrap items-center gap-2">
            <Input label="Find by name" placeholder="Find by name" value={find} onValueChange={setFind} />
            {projects.data?.hasMore === true && (
              <span className="text-xs text-muted">
                the {formatCount(projects.data.names.length)} that were used last; others are found by name
              </span>
            )}
          </div>
        )
      }
    >
      <Loaded query={projects} what="The projects">
        {({ names }) =>
          names.length === 0 && find === '' ? (
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
