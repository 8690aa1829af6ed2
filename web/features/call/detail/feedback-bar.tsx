import { useQuery } from '@tanstack/react-query'
import { MessageSquarePlus, ThumbsDown, ThumbsUp } from 'lucide-react'
import { Fragment, useState } from 'react'
import { type FeedbackItem, feedbackQuery, NOTE, newFeedback, REACTION } from '../../../api/feedback.ts'
import { useReadOnly } from '../../../api/read-only.ts'
import { Button, IconButton } from '../../../components/button.tsx'
import { Input } from '../../../components/input.tsx'
import { useKeys } from '../../../components/keys.ts'
import { Badge } from '../../../components/status.tsx'
import { Time } from '../../../components/time.tsx'
import { Tooltip } from '../../../components/tooltip.tsx'
import { RemoveFeedback } from './remove-feedback.tsx'
import { othersText, type Reaction, useFeedbackChanges, useReactions } from './use-feedback-changes.ts'

const THUMBS = [
  { emoji: '👍', label: 'Good', keys: '+', icon: ThumbsUp },
  { emoji: '👎', label: 'Bad', keys: '-', icon: ThumbsDown },
] as const

interface FeedbackBarProps {
  project: string
  id: string
  /** The call is not there any more: what was written about it can be read and copied, and nothing added. */
  isGone: boolean
}

/** Feedback of people on a call: a thumb, a note; scores of programs are shown beside it. */
export function FeedbackBar({ project, id, isGone }: FeedbackBarProps) {
  const { data, error } = useQuery(feedbackQuery(project, id))
  const changes = useFeedbackChanges(project, id)
  const { add, remove, added } = changes
  const { reaction, toggle, isKnown } = useReactions(data, changes)
  /** The text that the form begins with; undefined where it is closed. */
  const [draft, setDraft] = useState<string>()
  const save = (note: string) => {
    setDraft(undefined)
    add.mutate(newFeedback(NOTE, { note }), { onError: () => setDraft(note) })
  }
  const readOnly = useReadOnly(project)
  const mayChange = readOnly === undefined && !isGone
  useKeys(
    'Feedback',
    mayChange
      ? [
          ...THUMBS.map(({ keys, label, emoji }) => ({ keys, does: label, run: () => toggle(emoji) })),
          { keys: 'n', does: 'Write a note', run: () => setDraft('') },
        ]
      : [],
  )
  const items = data ?? []
  const notes = items.filter(({ feedback_type }) => feedback_type === NOTE)
  const others = items.filter(({ feedback_type }) => feedback_type !== NOTE && feedback_type !== REACTION)
  return (
    <section aria-label="Feedback" className="flex flex-col gap-1.5">
      {!isGone && (
        <div className="flex flex-wrap items-center gap-1">
          <Thumbs reaction={reaction} toggle={toggle} isDisabled={!mayChange || !isKnown} />
          {readOnly === undefined ? (
            <Button
              look="quiet"
              size="small"
              icon={<MessageSquarePlus size={14} />}
              onClick={() => setDraft('')}
            >
              Note
            </Button>
          ) : (
            <span className="px-1 text-xs text-muted">{readOnly}</span>
          )}
          {others.map((item) => (
            <Badge key={item.id}>{scoreText(item)}</Badge>
          ))}
        </div>
      )}
      {error !== null && (
        <p role="alert" className="text-xs text-error">
          Feedback could not be loaded: {error.message}
        </p>
      )}
      {draft !== undefined && (
        <NoteForm draft={draft} canSave={mayChange} onSave={save} onClose={() => setDraft(undefined)} />
      )}
      <Notes
        waiting={added.flatMap(({ type, payload }) => (type === NOTE ? [String(payload['note'])] : []))}
        notes={notes}
        onRemove={mayChange ? remove.mutate : undefined}
      />
    </section>
  )
}

interface ThumbsProps {
  reaction: (emoji: string) => Reaction
  toggle: (emoji: string) => void
  isDisabled: boolean
}

function Thumbs({ reaction, toggle, isDisabled }: ThumbsProps) {
  return THUMBS.map(({ emoji, label, keys, icon: Icon }) => {
    const given = reaction(emoji)
    return (
      <Fragment key={emoji}>
        <IconButton
          label={label}
          keys={keys}
          aria-pressed={given.isOwn}
          look="plain"
          disabled={isDisabled}
          className={given.isOwn ? '!bg-selected !text-link' : undefined}
          icon={<Icon size={14} />}
          onClick={() => toggle(emoji)}
        />
        <Others reaction={given} />
      </Fragment>
    )
  })
}

/** How many others gave a reaction; who, where the pointer rests. */
export function Others({ reaction }: { reaction: Reaction }) {
  const text = othersText(reaction)
  if (text === undefined) return null
  return (
    <Tooltip text={text}>
      <span className="tabular pe-1 text-xs text-muted">{reaction.others.length}</span>
    </Tooltip>
  )
}

interface NoteFormProps {
  draft: string
  canSave: boolean
  onSave: (text: string) => void
  onClose: () => void
}

/** Writes a note; Escape gives it up. */
function NoteForm({ draft, canSave, onSave, onClose }: NoteFormProps) {
  const [note, setNote] = useState(draft)
  return (
    <form
      className="flex gap-1.5"
      onSubmit={(event) => {
        event.preventDefault()
        if (note.trim() === '') onClose()
        else if (canSave) onSave(note.trim())
      }}
    >
      <Input
        label="Note"
        placeholder="What about this call?"
        value={note}
        onValueChange={setNote}
        maxLength={1024}
        autoFocus
        className="flex-1"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }
          if (event.key !== 'Escape') return
          event.stopPropagation()
          event.nativeEvent.stopImmediatePropagation()
          onClose()
        }}
      />
      <Button type="submit" look="primary" disabled={!canSave}>
        Save
      </Button>
    </form>
  )
}

interface NotesProps {
  notes: readonly FeedbackItem[]
  /** Texts that are not on the server yet. */
  waiting: readonly string[]
  /** Absent for those who only read. */
  onRemove: ((item: FeedbackItem) => void) | undefined
}

function Notes({ notes, waiting, onRemove }: NotesProps) {
  return (
    <>
      {waiting.map((text, index) => (
        <p
          // biome-ignore lint/suspicious/noArrayIndexKey: a note that waits has no id yet
          key={index}
          className="rounded-md bg-inset px-2 py-1 text-muted wrap-anywhere whitespace-pre-wrap"
        >
          {text}
        </p>
      ))}
      {notes.map((item) => (
        <div key={item.id} className="flex items-start gap-2 rounded-md bg-inset px-2 py-1">
          <p className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap">
            {String(item.payload['note'] ?? '')}
          </p>
          <span className="text-xs text-muted">
            {item.creator ?? item.wb_user_id} · <Time iso={item.created_at} />
          </span>
          {onRemove !== undefined && (
            <RemoveFeedback item={item} label="Remove the note" onRemove={onRemove} />
          )}
        </div>
      ))}
    </>
  )
}

/** `accuracy 0.83`, or the type alone where the payload is larger. */
function scoreText({ feedback_type, payload }: FeedbackItem): string {
  const name = feedback_type.replace(/^wandb\.(runnable|annotation)\./, '')
  const output = payload['output'] ?? payload['value'] ?? payload
  const shown =
    typeof output === 'object' && output !== null ? Object.entries(output).slice(0, 3) : [['', output]]
  const texts = shown.map(([key, value]) =>
    `${String(key)} ${typeof value === 'object' ? '…' : String(value)}`.trim(),
  )
  return `${name}: ${texts.join(', ')}`
}
