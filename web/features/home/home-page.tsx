import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Plug, Search, X } from 'lucide-react'
import { meQuery } from '../../api/accounts.ts'
import { isSignedIn } from '../../api/key.ts'
import { activityQuery, type ProjectName } from '../../api/project.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatCount } from '../../components/format.ts'
import { Input } from '../../components/input.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, StaleBanner } from '../../components/states.tsx'
import { Connect } from './connect.tsx'
import { FirstCalls } from './first-calls.tsx'
import { NarrowProject, PROJECT_COLUMNS, type ProjectRow, projectRow } from './project-columns.tsx'

const route = getRouteApi('/')

/** Activity on this server, and how to send the first calls. */
export function HomePage() {
  const { connect, find } = route.useSearch()
  const navigate = useNavigate()
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...activityQuery(find),
    placeholderData: keepPreviousData,
  })
  const { data: entity = 'local' } = useQuery({
    ...meQuery,
    enabled: isSignedIn(),
    select: (me) => me.default_entity,
  })
  const projects = data?.projects.map(projectRow)
  const isFirstRun = projects?.length === 0 && find === ''
  const show = (isShown: boolean) => void navigate({ to: '/', search: isShown ? { connect: true } : {} })
  if (projects === undefined && error !== null)
    return (
      <Page title="Home">
        <ErrorState title="Projects could not be loaded" error={error} onRetry={() => void refetch()} />
      </Page>
    )
  return (
    <Page
      title="Home"
      actions={
        !isFirstRun && (
          <Button
            icon={connect ? <X size={14} /> : <Plug size={14} />}
            aria-pressed={connect}
            onClick={() => show(!connect)}
          >
            {connect ? 'Show projects' : 'Connect a client'}
          </Button>
        )
      }
      toolbar={
        isFirstRun || connect ? undefined : (
          <Choice shown={data?.has_more === true ? data.projects.length : undefined} />
        )
      }
    >
      {error !== null && <StaleBanner error={error} onRetry={() => void refetch()} />}
      {isFirstRun || connect ? (
        <FirstRun name={projects?.[0] ?? { entity, project: 'my-project' }} />
      ) : projects?.length === 0 ? (
        <EmptyState
          title={`No project has “${find}” in its name`}
          actions={<Button onClick={() => show(false)}>Show all</Button>}
        />
      ) : (
        <ProjectTable projects={projects} find={find} isStale={isPlaceholderData} />
      )}
    </Page>
  )
}

/** Which projects are listed. @param shown how many, where there are more */
function Choice({ shown }: { shown: number | undefined }) {
  const { find } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <Input
        label="Find by name"
        placeholder="Find by name"
        icon={<Search size={14} aria-hidden />}
        className="w-64 max-md:flex-1"
        value={find}
        onValueChange={(next) => void navigate({ search: { find: next }, replace: true })}
      />
      {shown !== undefined && (
        <span className="truncate text-xs text-muted max-md:w-full">
          the {formatCount(shown)} that were used last; others are found by name
        </span>
      )}
    </>
  )
}

function FirstRun({ name: { entity, project } }: { name: ProjectName }) {
  const name = { entity, project }
  return (
    <div className="thin-scroll min-h-0 flex-1 overflow-y-auto p-4 max-md:p-3">
      <div className="mx-auto grid max-w-5xl grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Connect project={`${entity}/${project}`} />
        <FirstCalls name={name} />
      </div>
    </div>
  )
}

const SKELETON_ROWS = 6

interface ProjectTableProps {
  projects: ProjectRow[] | undefined
  find: string
  isStale: boolean
}

function ProjectTable({ projects, find, isStale }: ProjectTableProps) {
  return (
    <DataTable
      label="Projects"
      memory="projects"
      columns={PROJECT_COLUMNS}
      rowCount={projects?.length ?? SKELETON_ROWS}
      rowAt={(index) => projects?.[index]}
      rowId={(row) => row.id}
      pageOf={({ entity, project }) => ({ to: '/$entity/$project/traces', params: { entity, project } })}
      question={find}
      isStale={isStale}
      narrow={(row) => <NarrowProject row={row} />}
    />
  )
}
