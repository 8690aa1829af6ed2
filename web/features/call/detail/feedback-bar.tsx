import { useQuery } from '@tanstack/react-query'
import { MessageSquarePlus, ThumbsDown, ThumbsUp, X } from 'lucide-react'
import { useState } from 'react'
import { type FeedbackItem, feedbackQuery, NOTE, REACTION } from '../../../api/feedback.ts'
import { useReadOnly } from '../../../api/read-only.ts'
import { Button, IconButton } from '../../../components/button.tsx'
import { Input } from '../../../components/input.tsx'
import { useKeys } from '../../../components/keys.ts'
import { Badge } from '../../../components/status.tsx'
import { Time } from '../../../components/time.tsx'
import { useFeedbackChanges } from './use-feedback-changes.ts'

const THUMBS = [
  { emoji: '👍', label: 'Good', keys: '+', icon: ThumbsUp },
  { emoji: '👎', label: 'Bad', keys: '-', icon: ThumbsDown },
] as const

const isReaction = (item: FeedbackItem, emoji: string) =>
  item.feedback_type === REACTION && item.payload['emoji'] === emoji

/** Feedback of people on a call: a thumb, a note; scores of programs are shown beside it. */
export function FeedbackBar({ project, id }: { project: string; id: string }) {
  const { data: items = [] } = useQuery(feedbackQuery(project, id))
  const { add, remove, waiting } = useFeedbackChanges(project, id)
  const [isWriting, setWriting] = useState(false)
  const readOnly = useReadOnly(project)
  const toggle = (emoji: string) => {
    const given = items.find((item) => isReaction(item, emoji))
    if (given === undefined) add.mutate({ type: REACTION, payload: { emoji } })
    else remove.mutate(given)
  }
  useKeys(
    'Feedback',
    readOnly === undefined
      ? [
          ...THUMBS.map(({ keys, label, emoji }) => ({ keys, does: label, run: () => toggle(emoji) })),
          { keys: 'n', does: 'Write a note', run: () => setWriting(true) },
        ]
      : [],
  )
  const notes = items.filter(({ feedback_type }) => feedback_type === NOTE)
  const others = items.filter(({ feedback_type }) => feedback_type !== NOTE && feedback_type !== REACTION)
  return (
    <section aria-label="Feedback" className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-1">
        {THUMBS.map(({ emoji, label, keys, icon: Icon }) => {
          const isGiven =
            items.some((item) => isReaction(item, emoji)) ||
            waiting.some(({ payload }) => payload['emoji'] === emoji)
          return (
            <IconButton
              key={emoji}
              label={label}
              keys={keys}
              aria-pressed={isGiven}
              look="plain"
              disabled={readOnly !== undefined}
              className={isGiven ? '!bg-selected !text-link' : undefined}
              icon={<Icon size={14} />}
              onClick={() => toggle(emoji)}
            />
          )
        })}
        {readOnly === undefined ? (
          <Button
            look="quiet"
            size="small"
            icon={<MessageSquarePlus size={14} />}
            onClick={() => setWriting(true)}
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
      {isWriting && (
        <NoteForm
          onSave={(text) => add.mutate({ type: NOTE, payload: { note: text } })}
          onClose={() => setWriting(false)}
        />
      )}
      <Notes
        notes={notes}
        waiting={waiting.flatMap(({ type, payload }) => (type === NOTE ? [String(payload['note'])] : []))}
        onRemove={readOnly === undefined ? (item) => remove.mutate(item) : undefined}
      />
    </section>
  )
}

/** Writes a note; Escape gives it up. */
function NoteForm({ onSave, onClose }: { onSave: (text: string) => void; onClose: () => void }) {
  const [note, setNote] = useState('')
  return (
    <form
      className="flex gap-1.5"
      onSubmit={(event) => {
        event.preventDefault()
        if (note.trim() !== '') onSave(note.trim())
        onClose()
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
      <Button type="submit" look="primary">
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
            <IconButton
              label="Remove the note"
              size="small"
              icon={<X size={13} />}
              onClick={() => onRemove(item)}
            />
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
