import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Columns2, MessageSquare } from 'lucide-react'
import { useCallback } from 'react'
import { findBest } from '../../../src/training/checkpoints/best-step-wire.ts'
import { stepName } from '../../api/model-names.ts'
import {
  type Checkpoint,
  checkpointsQuery,
  eventsQuery,
  isOpen,
  type Job,
  jobsQuery,
  type Model,
  modelsQuery,
} from '../../api/training.ts'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import { formatNumber } from '../../components/format.ts'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { CurveControls } from './curve-controls.tsx'
import { Curves } from './curves.tsx'
import { JobState } from './job-state.tsx'
import { JobsTable } from './jobs-table.tsx'
import { ModelMenu } from './model-menu.tsx'
import { Rollouts } from './rollouts/rollouts.tsx'
import { RunCurves } from './run-curves.tsx'
import type { ChangeModel } from './search.ts'
import { stepsOf } from './steps.ts'
import { StepsTable } from './steps-table.tsx'

const route = getRouteApi('/$entity/$project/training/$model')

/** One model: its learning curves, its training data, and all its steps. */
export function ModelPage() {
  const { model: wanted, ...name } = route.useParams()
  const models = useQuery(modelsQuery(name))
  const model = models.data?.find((candidate) => candidate.name === wanted)
  if (model !== undefined) return <LoadedModel model={model} />
  return (
    <Page title={<Crumb />} tab={wanted}>
      {models.error !== null ? (
        <ErrorState
          title="The model could not be loaded"
          error={models.error}
          onRetry={() => void models.refetch()}
        />
      ) : models.isPending ? (
        <div className="grid grid-cols-3 gap-3 p-4">
          {['reward', 'loss', 'entropy'].map((key) => (
            <Skeleton key={key} className="h-48" />
          ))}
        </div>
      ) : (
        <EmptyState title={`This project has no model ${wanted}`}>
          <p>It may have been deleted. The list of models shows those that are there.</p>
        </EmptyState>
      )}
    </Page>
  )
}

function LoadedModel({ model }: { model: Model }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useCallback<ChangeModel>(
    (changed, how = 'push') =>
      void navigate({ search: (old) => ({ ...old, ...changed }), replace: how === 'replace' }),
    [navigate],
  )
  const jobs = useQuery(jobsQuery(model.id))
  const live = jobs.data?.findLast(isOpen)
  const steps = useQuery(checkpointsQuery(model.id, { isLive: live !== undefined }))
  const checkpoints = steps.data ?? []
  const shared = { model, checkpoints, jobs: jobs.data ?? [], search, change }
  return (
    <Page
      title={<ModelTitle model={model} live={live} />}
      tab={model.name}
      actions={<ModelActions model={model} checkpoints={checkpoints} />}
    >
      {steps.error !== null && <StaleBanner error={steps.error} onRetry={() => void steps.refetch()} />}
      <Facts model={model} checkpoints={checkpoints} />
      <Tabs
        label="What is shown of the model"
        className="flex-1"
        value={search.view}
        onChange={(view) => change({ view })}
        tabs={[
          {
            value: 'curves',
            label: 'Curves',
            content: <ModelCurves {...shared} live={live} isPending={steps.isPending} />,
          },
          { value: 'rollouts', label: 'Trajectories', content: <Rollouts {...shared} live={live} /> },
          { value: 'steps', label: 'Steps', content: <StepsTable {...shared} isPending={steps.isPending} /> },
          { value: 'jobs', label: 'Jobs', content: <JobsTable {...shared} isPending={jobs.isPending} /> },
          {
            value: 'run',
            label: 'Run metrics',
            content: (
              <>
                <div className="flex h-10 items-center border-b border-hair px-4 max-md:px-3 coarse:h-13">
                  <CurveControls settings={search} onChange={change} />
                </div>
                <RunCurves
                  name={model}
                  run={model.run_id}
                  isLive={live !== undefined}
                  settings={search}
                  missing={
                    <p>
                      This model was trained without a run of <code>wandb.init</code>. What its steps measured
                      is in Curves.
                    </p>
                  }
                />
              </>
            ),
          },
        ]}
      />
    </Page>
  )
}

function Crumb() {
  const { model, ...name } = route.useParams()
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Link
        to="/$entity/$project/training"
        params={name}
        className="text-muted hover:text-strong max-md:hidden"
      >
        Training
      </Link>
      <span className="text-muted max-md:hidden">/</span>
      <span className="truncate">{model}</span>
    </span>
  )
}

function ModelTitle({ model, live }: { model: Model; live: Job | undefined }) {
  const name = { entity: model.entity, project: model.project }
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Crumb />
      {live !== undefined && (
        <Link
          to="/$entity/$project/training/$model/jobs/$job"
          params={{ ...name, model: model.name, job: live.id }}
          className="shrink-0 font-normal"
        >
          <JobState job={live} />
        </Link>
      )}
    </span>
  )
}

interface ActionsProps {
  model: Model
  checkpoints: readonly Checkpoint[]
}

function ModelActions({ model, checkpoints }: ActionsProps) {
  const navigate = route.useNavigate()
  const chat = (steps: readonly (number | undefined)[]) =>
    void navigate({
      to: '/$entity/$project/playground',
      params: { entity: model.entity, project: model.project },
      search: { models: steps.filter((step) => step !== undefined).map((step) => stepName(model, step)) },
    })
  const last = checkpoints.at(-1)?.step
  return (
    <>
      <Button icon={<MessageSquare size={14} />} disabled={last === undefined} onClick={() => chat([last])}>
        <span className="max-md:sr-only">Chat</span>
      </Button>
      <Button
        look="quiet"
        icon={<Columns2 size={14} />}
        disabled={checkpoints.length < 2}
        onClick={() => chat([checkpoints[0]?.step, last])}
      >
        <span className="max-md:sr-only">First and last, side by side</span>
      </Button>
      <ModelMenu model={model} steps={checkpoints.length} />
    </>
  )
}

function Facts({ model, checkpoints }: ActionsProps) {
  const best = findBest(model, checkpoints)
  return (
    <dl className="tabular flex min-h-8 shrink-0 flex-wrap items-center gap-x-5 gap-y-1 px-4 py-1.5 text-xs max-md:px-3">
      <Fact name="Base">
        <Badge>{model.base_model}</Badge>
      </Fact>
      <Fact name="Last step">{checkpoints.at(-1)?.step ?? '–'}</Fact>
      <Fact name="Best">
        {best === undefined ? '–' : `step ${best.step.step}, ${best.metric} ${formatNumber(best.value)}`}
      </Fact>
      <Fact name="LoRA">
        rank {model.lora.rank}, alpha {model.lora.alpha}
      </Fact>
      <Fact name="Id">
        <Id id={model.id} />
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="flex items-center gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className="text-strong">{children}</dd>
    </div>
  )
}

interface ModelCurvesProps extends ActionsProps {
  live: Job | undefined
  isPending: boolean
}

function ModelCurves({ model, checkpoints, live, isPending }: ModelCurvesProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const events = useQuery({
    ...eventsQuery(live?.id ?? '', { isLive: live !== undefined }),
    enabled: live !== undefined,
  })
  const steps = stepsOf(checkpoints, live === undefined ? [] : events.data)
  const trained = steps.filter(({ metrics }) => Object.keys(metrics).length > 0)
  if (!isPending && trained.length === 0 && live === undefined)
    return (
      <EmptyState title="This model has not been trained yet">
        <p>
          Its curves begin with the first step. {model.name} answers with the weights of its base until then.
        </p>
      </EmptyState>
    )
  return (
    <>
      <div className="flex h-10 items-center border-b border-hair px-4 max-md:px-3 coarse:h-13">
        <CurveControls
          settings={search}
          onChange={(change, how) =>
            void navigate({ search: (old) => ({ ...old, ...change }), replace: how === 'replace' })
          }
        />
      </div>
      {isPending ? (
        <div className="grid grid-cols-3 gap-3 p-4 max-md:grid-cols-1">
          {['reward', 'loss', 'entropy'].map((key) => (
            <Skeleton key={key} className="h-56" />
          ))}
        </div>
      ) : (
        <Curves
          steps={trained}
          xName="step"
          group={`model ${model.id}`}
          settings={search}
          markX={search.step < 0 ? undefined : search.step}
          isLive={live !== undefined}
          onPick={(step) =>
            void navigate({ search: (old) => ({ ...old, view: 'rollouts', step, group: -1 }) })
          }
        />
      )}
    </>
  )
}
