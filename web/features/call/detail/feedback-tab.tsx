import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { type FeedbackItem, feedbackQuery, NOTE, REACTION } from '../../../api/feedback.ts'
import { useReadOnly } from '../../../api/read-only.ts'
import { IconButton } from '../../../components/button.tsx'
import { JsonView } from '../../../components/json-view/json-view.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import { Others } from './feedback-bar.tsx'
import { RemoveFeedback } from './remove-feedback.tsx'
import { useFeedbackChanges, useReactions } from './use-feedback-changes.ts'

/** Reactions beside the thumbs, which have keys of their own. */
const EMOJI = ['❤️', '🎉', '🚀', '🤔', '😕', '👀'] as const

/** All feedback of people and programs on a call, the newest first. */
export function FeedbackTab({ project, id }: { project: string; id: string }) {
  const { data, error, refetch } = useQuery(feedbackQuery(project, id))
  const changes = useFeedbackChanges(project, id)
  const { remove } = changes
  const { reaction, toggle, isKnown } = useReactions(data, changes)
  const readOnly = useReadOnly(project)
  if (error !== null && data === undefined)
    return <ErrorState title="Feedback could not be loaded" error={error} onRetry={() => void refetch()} />
  return (
    <>
      {readOnly !== undefined && <p className="text-xs text-muted">{readOnly}.</p>}
      <fieldset
        aria-label="React"
        disabled={readOnly !== undefined || !isKnown}
        className="flex flex-wrap gap-1"
      >
        {EMOJI.map((emoji) => {
          const given = reaction(emoji)
          return (
            <Fragment key={emoji}>
              <IconButton
                label={`React with ${emoji}`}
                look="plain"
                aria-pressed={given.isOwn}
                className={given.isOwn ? '!bg-selected' : undefined}
                icon={<span aria-hidden>{emoji}</span>}
                onClick={() => toggle(emoji)}
              />
              <Others reaction={given} />
            </Fragment>
          )
        })}
      </fieldset>
      {data === undefined ? (
        <Skeleton className="h-16 w-full" />
      ) : data.length === 0 ? (
        <EmptyState title="Nobody has said anything yet">
          <p>
            {readOnly === undefined && (
              <>
                Press <kbd>+</kbd> or <kbd>-</kbd> for a thumb, <kbd>n</kbd> for a note.{' '}
              </>
            )}
            Scores of scorers and annotations of people stand here too.
          </p>
        </EmptyState>
      ) : (
        <ul className="flex flex-col">
          {data.toReversed().map((item) => (
            <FeedbackRow
              key={item.id}
              item={item}
              onRemove={readOnly === undefined ? remove.mutate : undefined}
            />
          ))}
        </ul>
      )}
    </>
  )
}

interface FeedbackRowProps {
  item: FeedbackItem
  /** Absent for those who only read. */
  onRemove: ((item: FeedbackItem) => void) | undefined
}

function FeedbackRow({ item, onRemove }: FeedbackRowProps) {
  const { feedback_type: type, payload } = item
  const name = type.replace(/^wandb\.(runnable|annotation)\./, '').replace(/^wandb\.(\w+)\.1$/, '$1')
  const value = payload['output'] ?? payload['value'] ?? payload
  return (
    <li className="flex items-start gap-2 border-b border-hair/60 py-1.5">
      <span className="w-28 shrink-0 truncate text-xs leading-6 text-muted" title={type}>
        {name}
      </span>
      <div className="min-w-0 flex-1 leading-6 wrap-anywhere whitespace-pre-wrap text-normal">
        {type === REACTION ? (
          String(payload['emoji'] ?? '')
        ) : type === NOTE ? (
          String(payload['note'] ?? '')
        ) : typeof value === 'object' && value !== null ? (
          <JsonView label={name} value={value} maxHeight={160} />
        ) : (
          <span className="tabular">{String(value)}</span>
        )}
      </div>
      <span className="shrink-0 text-xs leading-6 text-muted">
        {item.creator ?? item.wb_user_id} · <Time iso={item.created_at} />
      </span>
      {onRemove !== undefined && <RemoveFeedback item={item} label={`Remove ${name}`} onRemove={onRemove} />}
    </li>
  )
}
