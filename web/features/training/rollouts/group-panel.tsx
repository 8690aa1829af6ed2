import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { projectId } from '../../../api/project.ts'
import type { Model } from '../../../api/training.ts'
import { groupTurnsQuery, type Turn } from '../../../api/trajectories.ts'
import { ChatMessages } from '../../../components/chat-messages.tsx'
import { classNames } from '../../../components/class-names.ts'
import { formatDelta, formatNumber } from '../../../components/format.ts'
import { pressKey, useKeys } from '../../../components/keys.ts'
import { Peek } from '../../../components/peek.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../../components/states.tsx'
import { Tabs } from '../../../components/tabs.tsx'
import { answerOf, finishOf, type Group, messagesOf } from './groups.ts'
import type { ChangeRollouts, RolloutSearch } from './search.ts'
import { TokenView } from './token-view.tsx'

interface GroupPanelProps {
  model: Model
  step: number
  jobId: string
  group: Group
  prompt: string
  search: RolloutSearch
  change: ChangeRollouts
}

/** One group: its attempts, the best first, and the messages of the selected one. */
export function GroupPanel({ model, step, jobId, group, prompt, search, change }: GroupPanelProps) {
  const project = projectId(model)
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...groupTurnsQuery(project, jobId, group.group),
    placeholderData: keepPreviousData,
  })
  const at = Math.min(search.attempt, Math.max(0, group.attempts.length - 1))
  const attempt = group.attempts[at]
  const turns = useMemo(() => lastTurns(data ?? [], attempt?.trajectory ?? -1), [data, attempt?.trajectory])
  const go = (by: number) =>
    change({ attempt: Math.min(group.attempts.length - 1, Math.max(0, at + by)) }, 'replace')
  useKeys('Attempts', [
    { keys: ']', does: 'The next attempt, which is worse', run: () => go(1) },
    { keys: '[', does: 'The attempt before, which is better', run: () => go(-1) },
    {
      keys: 't',
      does: 'Chat or tokens',
      run: () => change({ show: search.show === 'chat' ? 'tokens' : 'chat' }),
    },
  ])
  return (
    <Peek
      name="group"
      title={
        <h2 className="truncate text-sm font-strong text-strong" title={prompt}>
          {prompt || `Group ${group.group}`}
        </h2>
      }
      onClose={() => change({ group: -1 })}
      onMove={(by) => pressKey(by === 1 ? 'j' : 'k')}
    >
      <Attempts group={group} chosen={at} onChoose={(next) => change({ attempt: next }, 'replace')} />
      {error !== null && data === undefined ? (
        <ErrorState title="The group could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        <Tabs
          label="How the attempt is shown"
          className="flex-1"
          value={search.show}
          onChange={(show) => change({ show })}
          tabs={[
            {
              value: 'chat',
              label: 'Chat',
              content: <Conversation turns={turns} isStale={isPlaceholderData} project={model} />,
            },
            {
              value: 'tokens',
              label: 'Tokens',
              content:
                turns[0] === undefined || attempt === undefined ? (
                  <Skeleton className="m-3 h-24" />
                ) : (
                  <TokenView
                    key={turns[0].id}
                    model={model}
                    step={step}
                    turn={turns.at(-1) ?? turns[0]}
                    advantage={attempt.reward - group.mean}
                  />
                ),
            },
          ]}
        />
      )}
    </Peek>
  )
}

/** Every history of an attempt by its last turn, which holds all before it. */
function lastTurns(turns: readonly Turn[], trajectory: number): Turn[] {
  const last = new Map<number, Turn>()
  for (const turn of turns) {
    if (turn.place.trajectory !== trajectory || turn.exception !== null) continue
    const known = last.get(turn.place.history)
    if (known === undefined || turn.place.turn > known.place.turn) last.set(turn.place.history, turn)
  }
  return [...last.values()]
}

interface AttemptsProps {
  group: Group
  chosen: number
  onChoose: (index: number) => void
}

function Attempts({ group, chosen, onChoose }: AttemptsProps) {
  return (
    <div
      role="radiogroup"
      aria-label="Attempts, the best first"
      className="thin-scroll flex shrink-0 gap-1 overflow-x-auto border-b border-hair px-3 py-2"
    >
      {group.attempts.map(({ trajectory, reward }, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a row of buttons, of which one is chosen
        <button
          key={trajectory}
          type="button"
          role="radio"
          aria-checked={index === chosen}
          aria-label={`Attempt ${trajectory + 1}, reward ${formatNumber(reward)}`}
          title={`Attempt ${trajectory + 1}: reward ${formatNumber(reward)}, ${formatDelta(reward - group.mean)} to the mean of the group`}
          onClick={() => onChoose(index)}
          className={classNames(
            'tabular flex h-8 min-w-12 shrink-0 flex-col items-center justify-center rounded-md border px-2 text-xs coarse:h-11',
            index === chosen
              ? 'border-focus bg-selected text-strong'
              : 'border-hair text-muted hover:bg-hover',
          )}
        >
          {formatNumber(reward)}
        </button>
      ))}
    </div>
  )
}

function Conversation({
  turns,
  isStale,
  project,
}: {
  turns: readonly Turn[]
  isStale: boolean
  project: { entity: string; project: string }
}) {
  if (turns.length === 0)
    return isStale ? (
      <Skeleton className="m-3 h-32" />
    ) : (
      <EmptyState title="Nothing was said">
        <p>The attempt has no turn of the model.</p>
      </EmptyState>
    )
  return (
    <div className="flex flex-col gap-4 p-3" aria-busy={isStale}>
      {turns.map((turn) => {
        const answer = answerOf(turn)
        const finish = finishOf(turn)
        return (
          <section key={turn.id} className="flex flex-col gap-2">
            <ChatMessages messages={[...messagesOf(turn), ...(answer === undefined ? [] : [answer])]} />
            <p className="flex flex-wrap gap-x-3 text-2xs text-muted">
              {finish !== undefined && (
                <span className={finish === 'length' ? 'text-warn' : undefined}>
                  {finish === 'length' ? 'cut off at its limit of tokens' : `ended by ${finish}`}
                </span>
              )}
              {turn.place.initial_policy_version != null && (
                <span>sampled from step {turn.place.initial_policy_version}</span>
              )}
              <Link
                to="/$entity/$project/calls/$id"
                params={{ entity: project.entity, project: project.project, id: turn.id }}
                className="text-link underline"
              >
                its call
              </Link>
              <Link
                to="/$entity/$project/playground"
                params={{ entity: project.entity, project: project.project }}
                search={{ call: turn.id }}
                className="text-link underline"
              >
                replay
              </Link>
            </p>
          </section>
        )
      })}
    </div>
  )
}
