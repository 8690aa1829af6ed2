import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Ban } from 'lucide-react'
import { useState } from 'react'
import { projectId } from '../../api/project.ts'
import { useReadOnly } from '../../api/read-only.ts'
import {
  cancelJob,
  eventsQuery,
  haveEnded,
  isOpen,
  type Job,
  type JobEvent,
  jobQuery,
} from '../../api/training.ts'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { formatCount, formatNumber, formatShare } from '../../components/format.ts'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { notify } from '../../components/toast.ts'
import { CurveControls } from './curve-controls.tsx'
import { Curves } from './curves.tsx'
import { JobPhases } from './job-phases.tsx'
import { JobState } from './job-state.tsx'
import { gradientSteps, rebuiltShare } from './steps.ts'

const route = getRouteApi('/$entity/$project/training/$model/jobs/$job')

/** One job: its progress, its error, and every gradient step. */
export function JobPage() {
  const { job: id, model, ...name } = route.useParams()
  const job = useQuery(jobQuery(id))
  const isLive = job.data === undefined || isOpen(job.data)
  const events = useQuery(eventsQuery(id, { isLive }))
  return (
    <Page
      title={
        <span className="flex min-w-0 items-center gap-2">
          <Link
            to="/$entity/$project/training/$model"
            params={{ ...name, model }}
            search={{ view: 'jobs' }}
            className="truncate text-muted hover:text-strong"
          >
            {model}
          </Link>
          <span className="text-muted">/</span>
          <span className="shrink-0">{titleOf(job.data)}</span>
          {job.data !== undefined && <JobState job={job.data} />}
        </span>
      }
      tab={`${titleOf(job.data)} of ${model}`}
      actions={
        job.data !== undefined && isOpen(job.data) && <Cancel job={job.data} project={projectId(name)} />
      }
    >
      {job.error !== null && job.data === undefined ? (
        <ErrorState
          title="The job could not be loaded"
          error={job.error}
          onRetry={() => void job.refetch()}
        />
      ) : (
        <div className="thin-scroll min-h-0 flex-1 overflow-y-auto">
          {job.error !== null && <StaleBanner error={job.error} onRetry={() => void job.refetch()} />}
          {job.data === undefined ? (
            <Skeleton className="m-4 h-24" />
          ) : (
            <JobHead job={job.data} rebuilt={rebuiltShare(gradientSteps(events.data ?? []))} />
          )}
          <Warnings events={events.data ?? []} />
          <JobCurves id={id} events={events.data} isLive={isLive || !haveEnded(events.data ?? [])} />
        </div>
      )}
    </Page>
  )
}

function titleOf(job: Job | undefined): string {
  if (job === undefined) return 'Job'
  return job.checkpoint_step === null ? `${job.kind.toUpperCase()} job` : `Job of step ${job.checkpoint_step}`
}

function JobCurves({ id, events, isLive }: { id: string; events: JobEvent[] | undefined; isLive: boolean }) {
  const settings = route.useSearch()
  const navigate = route.useNavigate()
  const steps = gradientSteps(events ?? [])
  if (events !== undefined && steps.length === 0)
    return (
      <EmptyState title="No gradient step yet">
        <p>
          {isLive
            ? 'The curves begin with the first one, and go on by themselves.'
            : 'The job ended before it took one.'}
        </p>
      </EmptyState>
    )
  return (
    <>
      {(steps.length > 1 || isLive) && (
        <div className="flex h-10 items-center border-y border-hair px-4 max-md:px-3 coarse:h-13">
          <CurveControls
            settings={settings}
            onChange={(change, how) =>
              void navigate({ search: (old) => ({ ...old, ...change }), replace: how === 'replace' })
            }
          />
        </div>
      )}
      <Curves steps={steps} xName="gradient step" group={`job ${id}`} settings={settings} isLive={isLive} />
    </>
  )
}

function JobHead({ job, rebuilt }: { job: Job; rebuilt: number | undefined }) {
  const { model: _model, job: _job, ...name } = route.useParams()
  const { model } = route.useParams()
  return (
    <section aria-label="State" className="flex flex-col gap-3 p-4 max-md:p-3">
      <JobPhases job={job} />
      {job.error_message !== null && (
        <p role="alert" className="rounded-md bg-error-soft px-3 py-2 text-sm text-strong wrap-anywhere">
          {job.error_message}
        </p>
      )}
      <dl className="tabular flex flex-wrap items-center gap-x-5 gap-y-1 text-xs">
        {Object.entries(job.counts).map(([key, value]) => (
          <div key={key} className="flex gap-1.5">
            <dt className="text-muted">{key.replaceAll('_', ' ')}</dt>
            <dd className="text-strong">{formatCount(value)}</dd>
          </div>
        ))}
        {rebuilt !== undefined && (
          <div className="flex gap-1.5">
            <dt className="text-muted">trained in the context that was sampled in</dt>
            <dd className="text-strong">{formatShare(1 - rebuilt)}</dd>
          </div>
        )}
        <div className="flex gap-1.5">
          <dt className="text-muted">attempts</dt>
          <dd className="text-strong">{job.attempts}</dd>
        </div>
        <div className="flex items-center gap-1">
          <dt className="text-muted">id</dt>
          <dd>
            <Id id={job.id} />
          </dd>
        </div>
      </dl>
      {job.kind === 'rl' && job.checkpoint_step !== null && (
        <Link
          to="/$entity/$project/training/$model"
          params={{ ...name, model }}
          search={{ view: 'rollouts', step: job.checkpoint_step }}
          className="self-start text-xs text-link underline"
        >
          Its trajectories
        </Link>
      )}
    </section>
  )
}

/** Why the job is less than on-policy, and what of its data it leaves out, in the server's words. */
function Warnings({ events }: { events: readonly JobEvent[] }) {
  const warnings = events.filter(({ type }) => type === 'on_policy_warning' || type === 'data_warning')
  const resumed = events.filter(({ type }) => type === 'training_resumed')
  if (warnings.length === 0 && resumed.length === 0) return null
  return (
    <ul aria-label="Warnings" className="flex flex-col gap-1 px-4 pb-3 max-md:px-3">
      {warnings.map(({ id, data }) => (
        <li key={id} className="rounded-md bg-warn-soft px-3 py-1.5 text-xs text-warn">
          {String(data['message'])}{' '}
          <span className="tabular">
            ({formatNumber(Number(data['value']))}, limit {formatNumber(Number(data['threshold']))})
          </span>
        </li>
      ))}
      {resumed.map(({ id, data }) => (
        <li key={id} className="rounded-md bg-inset px-3 py-1.5 text-xs text-muted">
          Went on after an interruption: {String(data['reason'])}
        </li>
      ))}
    </ul>
  )
}

function Cancel({ job, project }: { job: Job; project: string }) {
  const [isAsked, setAsked] = useState(false)
  const readOnly = useReadOnly(project)
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: cancelJob,
    onSuccess: (ended) => {
      queries.setQueryData(jobQuery(ended.id).queryKey, ended)
      notify({ title: 'The job was cancelled' })
    },
    onError: (error) => notify({ title: 'The job could not be cancelled', detail: error.message }),
  })
  if (readOnly !== undefined) return <span className="text-xs text-muted">{readOnly}</span>
  return (
    <>
      <Button
        look="danger"
        icon={<Ban size={14} />}
        disabled={cancel.isPending}
        onClick={() => setAsked(true)}
      >
        Cancel
      </Button>
      <ConfirmDialog
        title="Cancel this job?"
        consequence={`Its ${formatCount(job.counts['gradient_steps'])} gradient steps are lost, and no step of the model comes of it. It cannot be taken up again.`}
        action="Cancel the job"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => cancel.mutate(job.id)}
      />
    </>
  )
}
