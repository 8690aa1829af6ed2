import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { stepName } from '../../api/model-names.ts'
import { projectId } from '../../api/project.ts'
import { useReadOnly } from '../../api/read-only.ts'
import {
  type Checkpoint,
  changeTag,
  checkpointQuery,
  checkpointsQuery,
  type Model,
  readCheckpointFile,
} from '../../api/training.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import { formatBytes, formatNumber } from '../../components/format.ts'
import { Input } from '../../components/input.tsx'
import { messageOf } from '../../components/message-of.ts'
import { Peek } from '../../components/peek.tsx'
import { saveFile } from '../../components/save-file.ts'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { notify } from '../../components/toast.ts'

interface StepPanelProps {
  model: Model
  checkpoint: Checkpoint
  /** The last step of a model stays: without it the model has no weights. */
  isLast: boolean
  onClose: () => void
  onMove: (by: -1 | 1) => void
  onDelete: () => void
}

/** One step: its metrics, its tags, its files. */
export function StepPanel({ model, checkpoint, isLast, onClose, onMove, onDelete }: StepPanelProps) {
  const { step } = checkpoint
  const name = { entity: model.entity, project: model.project }
  const readOnly = useReadOnly(projectId(name))
  return (
    <Peek
      name="step"
      title={<h2 className="text-sm font-strong text-strong">Step {step}</h2>}
      onClose={onClose}
      onMove={onMove}
    >
      <div className="thin-scroll flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-3 py-3">
        <div className="flex flex-wrap items-center gap-2 text-xs text-muted">
          <Link
            to="/$entity/$project/playground"
            params={name}
            search={{ models: [stepName(model, step)] }}
            className="text-link underline"
          >
            Chat with it
          </Link>
          {checkpoint.job_id !== null && (
            <Link
              to="/$entity/$project/training/$model/jobs/$job"
              params={{ ...name, model: model.name, job: checkpoint.job_id }}
              className="text-link underline"
            >
              Its job
            </Link>
          )}
          <span>
            made <Time iso={checkpoint.created_at} />
          </span>
          <Button
            size="small"
            look="danger"
            className="ms-auto"
            icon={<Trash2 size={13} />}
            disabled={isLast || readOnly !== undefined}
            title={readOnly ?? (isLast ? 'The only step of a model stays' : undefined)}
            onClick={onDelete}
          >
            Delete
          </Button>
        </div>
        <Tags model={model} checkpoint={checkpoint} readOnly={readOnly} />
        <Files model={model} step={step} />
        <Metrics metrics={checkpoint.metrics} />
      </div>
    </Peek>
  )
}

interface TagsProps extends Pick<StepPanelProps, 'model' | 'checkpoint'> {
  readOnly: string | undefined
}

function Tags({ model, checkpoint: { step, tags }, readOnly }: TagsProps) {
  const [text, setText] = useState('')
  const queries = useQueryClient()
  const set = (tag: string, to: 'on' | 'off', onDone?: () => void) =>
    changeTag(model.id, { step, tag, to }).then(
      () => {
        onDone?.()
        return queries.invalidateQueries({ queryKey: checkpointsQuery(model.id).queryKey })
      },
      (error: Error) => notify({ title: 'The tag could not be changed', detail: error.message }),
    )
  return (
    <section aria-label="Tags" className="flex flex-wrap items-center gap-1.5">
      {tags.map((tag) => (
        <span key={tag} className="flex items-center">
          <Badge>{tag}</Badge>
          <IconButton
            size="small"
            label={`Remove tag ${tag}`}
            disabled={readOnly !== undefined}
            icon={<X size={12} />}
            onClick={() =>
              void set(tag, 'off', () =>
                notify({ title: `Tag ${tag} removed`, undo: () => void set(tag, 'on') }),
              )
            }
          />
        </span>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '') void set(text.trim(), 'on', () => setText(''))
        }}
      >
        <Input
          label="Add a tag"
          placeholder={readOnly ?? 'Add a tag'}
          disabled={readOnly !== undefined}
          value={text}
          onValueChange={setText}
          className="w-48"
        />
      </form>
    </section>
  )
}

function Files({ model, step }: { model: Model; step: number }) {
  const { data, error, refetch } = useQuery(checkpointQuery(model.id, step))
  if (error !== null && data === undefined)
    return <ErrorState title="The files could not be listed" error={error} onRetry={() => void refetch()} />
  return (
    <section aria-label="Files">
      <h3 className="flex items-center gap-2 pb-1 text-xs font-strong text-muted">
        Files{' '}
        {data !== undefined && (
          <span className="font-normal">
            adapter <Id id={data.adapter_digest} />
          </span>
        )}
      </h3>
      {data === undefined ? (
        <Skeleton className="h-24 w-full" />
      ) : (
        <ul className="divide-y divide-hair/60 text-xs">
          {data.files.map((file) => (
            <li key={file.name} className="flex h-7 items-center gap-2">
              <span className="min-w-0 flex-1 truncate font-mono">{file.name}</span>
              <span className="tabular text-muted">{formatBytes(file.size)}</span>
              <IconButton
                size="small"
                label={`Download ${file.name}`}
                icon={<Download size={13} />}
                onClick={() => void save({ model, step, file: file.name })}
              />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** The browser cannot send the key with a link, so the bytes come here first. */
async function save({ model, step, file }: { model: Model; step: number; file: string }): Promise<void> {
  try {
    saveFile(await readCheckpointFile(model.id, step, file), `${model.name}-step${step}-${file}`)
  } catch (error) {
    notify({ title: 'The download failed', detail: messageOf(error) })
  }
}

function Metrics({ metrics }: { metrics: Record<string, number> }) {
  const entries = Object.entries(metrics).sort(([a], [b]) => a.localeCompare(b))
  if (entries.length === 0) return <p className="text-xs text-muted">Nothing was measured of this step.</p>
  return (
    <section aria-label="Metrics">
      <h3 className="pb-1 text-xs font-strong text-muted">Metrics</h3>
      <dl className="tabular text-xs">
        {entries.map(([name, value]) => (
          <div key={name} className="flex h-6 items-center justify-between gap-3 border-b border-hair/40">
            <dt className="truncate text-muted">{name}</dt>
            <dd className="text-strong" title={String(value)}>
              {formatNumber(value)}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
