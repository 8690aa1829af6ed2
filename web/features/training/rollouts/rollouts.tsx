import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { projectId } from '../../../api/project.ts'
import { type Checkpoint, type Job, jobQuery, type Model } from '../../../api/training.ts'
import {
  areComplete,
  attemptsOf,
  lastGroupOf,
  promptsQuery,
  stepTurnsQuery,
  TURNS_MAX,
  type Turn,
} from '../../../api/trajectories.ts'
import { IconButton } from '../../../components/button.tsx'
import { formatCount } from '../../../components/format.ts'
import { useKeys } from '../../../components/keys.ts'
import { Select } from '../../../components/select.tsx'
import { EmptyState, ErrorState } from '../../../components/states.tsx'
import { GroupPanel } from './group-panel.tsx'
import { groupsOf, promptOf, sortGroups } from './groups.ts'
import { GroupsTable } from './groups-table.tsx'
import type { ChangeRollouts, GroupOrder, RolloutSearch } from './search.ts'

interface RolloutsProps {
  model: Model
  checkpoints: readonly Checkpoint[]
  live: Job | undefined
  search: RolloutSearch
  change: ChangeRollouts
}

/** A step and the job whose trajectories made it. */
interface TrainedStep {
  step: number
  jobId: string
  isLive: boolean
}

function trainedSteps(checkpoints: readonly Checkpoint[], live: Job | undefined): TrainedStep[] {
  const done = checkpoints.flatMap(({ step, job_id }) =>
    job_id === null ? [] : [{ step, jobId: job_id, isLive: false }],
  )
  if (live?.kind !== 'rl') return done
  return [...done, { step: (checkpoints.at(-1)?.step ?? 0) + 1, jobId: live.id, isLive: true }]
}

const ORDERS: readonly { value: GroupOrder; label: string }[] = [
  { value: '-spread', label: 'Most spread first' },
  { value: 'spread', label: 'Least spread first' },
  { value: '-reward', label: 'Best reward first' },
  { value: 'reward', label: 'Worst reward first' },
  { value: 'sent', label: 'As they were sent' },
]

/** The trajectories that each step was trained on: groups of a step, attempts of a group, turns of an attempt. */
export function Rollouts(props: RolloutsProps) {
  const steps = trainedSteps(props.checkpoints, props.live)
  const newest = steps.findLast(({ isLive }) => !isLive) ?? steps.at(-1)
  const current = steps.find(({ step }) => step === props.search.step) ?? newest
  if (current === undefined)
    return (
      <EmptyState title="No step has trajectories yet">
        <p>They appear with the first job that trains on trajectory groups.</p>
      </EmptyState>
    )
  return <StepRollouts {...props} steps={steps} current={current} />
}

function StepRollouts({
  model,
  search,
  change,
  steps,
  current,
}: RolloutsProps & { steps: readonly TrainedStep[]; current: TrainedStep }) {
  const project = projectId(model)
  const job = useQuery(jobQuery(current.jobId)).data
  const turns = useQuery({
    ...stepTurnsQuery(project, current.jobId, job),
    placeholderData: keepPreviousData,
  })
  const prompts = useQuery({ ...promptsQuery(project, current.jobId), placeholderData: keepPreviousData })
  const texts = new Map((prompts.data ?? []).map((turn) => [turn.place.group, promptOf(turn)]))
  const isComplete = job === undefined || areComplete(turns.data ?? [], job)
  const groups = sortGroups(groupsOf(turns.data ?? [], { isComplete }), search.order)
  useNewPrompts(turns, prompts)
  const kept = useKeptPrompt({
    step: current.step,
    texts,
    isFresh: !prompts.isPlaceholderData,
    search,
    change,
  })
  if (turns.error !== null && turns.data === undefined)
    return (
      <ErrorState
        title="Trajectories could not be loaded"
        error={turns.error}
        onRetry={() => void turns.refetch()}
      />
    )
  const open = groups.find(({ group }) => group === search.group)
  return (
    <div className="relative flex h-full flex-col">
      <StepBar
        steps={steps}
        current={current}
        order={search.order}
        change={change}
        note={
          (turns.data?.length ?? 0) >= TURNS_MAX
            ? `Only the first ${TURNS_MAX.toLocaleString('en')} turns are shown`
            : (kept ?? partText(turns.data, job))
        }
      />
      {turns.data?.length === 0 ? (
        <EmptyState title={`No trajectories of step ${current.step} are shown yet`}>
          <p>
            They become calls while the job runs, and appear here by themselves. Those of a fine-tuning job
            (SFT) do not: it trains on files.
          </p>
        </EmptyState>
      ) : (
        <GroupsTable
          groups={groups}
          texts={texts}
          isPending={turns.isPending}
          isStale={turns.isPlaceholderData}
          openGroup={search.group}
          onOpen={(group, how) => change({ group, attempt: 0 }, how)}
        />
      )}
      {open !== undefined && (
        <GroupPanel
          model={model}
          step={current.step}
          jobId={current.jobId}
          group={open}
          prompt={texts.get(open.group) ?? ''}
          search={search}
          change={change}
        />
      )}
    </div>
  )
}

/** That only a part of what the job was sent is here; undefined where all is. */
function partText(turns: readonly Turn[] | undefined, job: Job | undefined): string | undefined {
  if (turns === undefined || turns.length === 0 || job === undefined || areComplete(turns, job))
    return undefined
  return `${formatCount(attemptsOf(turns))} of ${formatCount(job.counts['trajectories'])} attempts are shown`
}

/** Reads the prompts of groups that have come since the prompts were read. */
function useNewPrompts(turns: UseQueryResult<Turn[]>, prompts: UseQueryResult<Turn[]>): void {
  const last = lastGroupOf(turns.data ?? [])
  const known = lastGroupOf(prompts.data ?? [])
  const isOfStep = prompts.data !== undefined && !turns.isPlaceholderData && !prompts.isPlaceholderData
  const { refetch } = prompts
  useEffect(() => {
    if (isOfStep && last > known) void refetch()
  }, [isOfStep, last, known, refetch])
}

interface StepBarProps {
  steps: readonly TrainedStep[]
  current: TrainedStep
  order: GroupOrder
  change: ChangeRollouts
  note: string | undefined
}

/** Which step is looked at, and in which order its groups come. */
function StepBar({ steps, current, order, change, note }: StepBarProps) {
  const at = steps.indexOf(current)
  const go = (by: number) => {
    const next = steps[at + by]
    if (next !== undefined) change({ step: next.step }, 'replace')
  }
  useKeys('Trajectories', [
    { keys: 'ArrowLeft', does: 'The step before', run: () => go(-1) },
    { keys: 'ArrowRight', does: 'The next step', run: () => go(1) },
  ])
  return (
    <div className="flex min-h-10 shrink-0 flex-wrap items-center gap-2 border-b border-hair px-4 py-1.5 max-md:px-3">
      <IconButton
        label="The step before"
        keys="←"
        icon={<ChevronLeft size={16} />}
        disabled={at === 0}
        onClick={() => go(-1)}
      />
      <input
        type="range"
        aria-label="Step"
        aria-valuetext={`step ${current.step}`}
        min={0}
        max={Math.max(0, steps.length - 1)}
        value={at}
        className="w-40 accent-(--accent)"
        onChange={(event) =>
          change({ step: steps[Number(event.currentTarget.value)]?.step ?? -1 }, 'replace')
        }
      />
      <IconButton
        label="The next step"
        keys="→"
        icon={<ChevronRight size={16} />}
        disabled={at === steps.length - 1}
        onClick={() => go(1)}
      />
      <output className="tabular w-24 text-strong">
        Step {current.step} <span className="text-muted">of {steps.at(-1)?.step}</span>
      </output>
      <Select
        label="Order of groups"
        value={order}
        options={ORDERS}
        onChange={(order) => change({ order })}
      />
      {note !== undefined && <span className="text-xs text-muted">{note}</span>}
    </div>
  )
}

interface KeptPromptProps {
  step: number
  texts: ReadonlyMap<number, string>
  isFresh: boolean
  search: RolloutSearch
  change: ChangeRollouts
}

/**
 * Going to another step keeps the prompt that is open, so that one sees the model change. A step that was not trained
 * on it shows the group of the same place, and this says so.
 */
function useKeptPrompt({ step, texts, isFresh, search, change }: KeptPromptProps): string | undefined {
  const wanted = useRef<{ step: number; group: number; text: string }>(undefined)
  const { group } = search
  const text = texts.get(group)
  const hasMoved = wanted.current !== undefined && wanted.current.step !== step
  const same = hasMoved ? [...texts].find(([, other]) => other === wanted.current?.text)?.[0] : undefined
  useEffect(() => {
    if (!isFresh || texts.size === 0) return
    if (group < 0) {
      wanted.current = undefined
      return
    }
    const last = wanted.current
    if (last !== undefined && last.step !== step && same !== undefined && same !== group)
      change({ group: same }, 'replace')
    else if (last === undefined || last.step === step || same !== undefined)
      wanted.current = { step, group, text: text ?? '' }
  })
  if (!hasMoved || group < 0 || !isFresh || same !== undefined) return undefined
  return 'This step was not trained on the prompt that was open; the group in its place is shown.'
}
