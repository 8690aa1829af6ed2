import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Navigate } from '@tanstack/react-router'
import { exampleKey } from '../../api/key.ts'
import { runsQuery } from '../../api/runs.ts'
import { modelsQuery, openJobsQuery } from '../../api/training.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatCount } from '../../components/format.ts'
import { Page } from '../../components/page.tsx'
import { CodeBlock, EmptyState, ErrorState, StaleBanner } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { MODEL_COLUMNS, type ModelRow, NarrowModel } from './models-table.tsx'
import { RunPage } from './run-page.tsx'
import { RunsTable } from './runs-table.tsx'

const route = getRouteApi('/$entity/$project/training')

/** What a project trains: its models, and the runs that clients logged. */
export function TrainingPage() {
  const name = route.useParams()
  const { view, run, ...settings } = route.useSearch()
  const navigate = route.useNavigate()
  const models = useQuery(modelsQuery(name))
  const runs = useInfiniteQuery(runsQuery(name))
  // A model's own run is a part of the model's page, and clients print its link.
  const owner = models.data?.find(({ run_id }) => run !== '' && run_id === run)
  if (owner !== undefined)
    return <Navigate to="/$entity/$project/training/$model" params={{ ...name, model: owner.name }} replace />
  if (run !== '')
    return (
      <RunPage
        name={name}
        run={run}
        settings={settings}
        onSettings={(change, how) =>
          void navigate({ search: (old) => ({ ...old, ...change }), replace: how === 'replace' })
        }
      />
    )
  const counted = (label: string, count: number | undefined, hasMore = false) => (
    <>
      {label}{' '}
      {count !== undefined && (
        <span className="tabular text-2xs text-muted">
          {formatCount(count)}
          {hasMore && '+'}
        </span>
      )}
    </>
  )
  return (
    <Page title="Training" tab={`Training of ${name.project}`}>
      <Tabs
        label="What is trained"
        className="flex-1"
        value={view}
        onChange={(next) => void navigate({ search: { view: next } })}
        tabs={[
          { value: 'models', label: counted('Models', models.data?.length), content: <Models /> },
          {
            value: 'runs',
            label: counted('Runs', runs.data?.length, runs.hasNextPage),
            content: <RunsTable name={name} />,
          },
        ]}
      />
    </Page>
  )
}

/** As many as fill half a screen. */
const SKELETON_ROWS = 12

function Models() {
  const name = route.useParams()
  const models = useQuery(modelsQuery(name))
  const open = useQuery(openJobsQuery)
  const { data, error } = models
  if (data === undefined && error !== null)
    return (
      <ErrorState title="Models could not be loaded" error={error} onRetry={() => void models.refetch()} />
    )
  if (data?.length === 0) return <NoModels project={name.project} />
  const jobs = new Map((open.data ?? []).toReversed().map((job) => [job.model_id, job]))
  const rows = (data ?? []).map((model): ModelRow => ({ model, job: jobs.get(model.id) }))
  return (
    <div className="flex h-full flex-col">
      {error !== null && <StaleBanner error={error} onRetry={() => void models.refetch()} />}
      <DataTable
        label="Models"
        memory="models"
        columns={MODEL_COLUMNS}
        rowCount={data === undefined ? SKELETON_ROWS : rows.length}
        rowAt={(index) => rows[index]}
        rowId={({ model }) => model.id}
        pageOf={({ model }) => ({
          to: '/$entity/$project/training/$model',
          params: { ...name, model: model.name },
        })}
        narrow={(row) => <NarrowModel row={row} />}
      />
    </div>
  )
}

/** The exact lines that register a first model and train it. */
function NoModels({ project }: { project: string }) {
  const { origin } = window.location
  const python = `import art
from art.serverless.backend import ServerlessBackend

model = art.TrainableModel(name="first", project="${project}", base_model="heddle/loom-tiny")
backend = ServerlessBackend(api_key="${exampleKey()}", base_url="${origin}/v1")
await model.register(backend)
# groups = [art.TrajectoryGroup([...]), ...]
result = await backend.train(model, groups)`
  return (
    <EmptyState title="No model is trained here yet">
      <p>Register one with openpipe-art, and it appears here with everything it learns.</p>
      <CodeBlock label="lines" code={python} />
      <p>
        On the server’s machine, <code className="font-mono">npm run demo</code> trains a small one from start
        to end.
      </p>
    </EmptyState>
  )
}
