import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Member } from '../../api/accounts.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { type Retention, retentionQuery, type StoredRetention, setRetention } from '../../api/retention.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Input } from '../../components/input.tsx'
import { notify } from '../../components/toast.ts'
import { Edited } from './parts/edited.tsx'
import { Loaded, ReadOnly, Section } from './parts/section.tsx'
import { useChange } from './parts/use-change.ts'
import { type Drafts, draftsOf, isShorter, KINDS, retentionIn } from './retention.ts'

interface RetentionTabProps {
  name: ProjectName
  role: Member['role'] | undefined
}

/** For how many days a project keeps each kind of data. */
export function RetentionTab({ name, role }: RetentionTabProps) {
  const retention = useQuery(retentionQuery(name))
  const mayChange = role === 'admin'
  return (
    <Section
      title="Retention"
      about="For how many days each kind of data is kept. Older data is deleted once a day; a field without a number keeps it without end."
      form={
        !mayChange && (
          <ReadOnly>
            Admins of {name.entity} change this; you are a {role ?? 'guest'} there.
          </ReadOnly>
        )
      }
    >
      <Loaded query={retention} what="The retention">
        {(stored) => (
          <Edited key={projectId(name)} stored={stored}>
            {(begun, onSaved) => <Form name={name} stored={begun} mayChange={mayChange} onSaved={onSaved} />}
          </Edited>
        )}
      </Loaded>
    </Section>
  )
}

interface FormProps {
  name: ProjectName
  stored: StoredRetention
  mayChange: boolean
  onSaved: (saved: StoredRetention) => void
}

function Form({ name, stored, mayChange, onSaved }: FormProps) {
  const [drafts, setDrafts] = useState<Drafts>(() => draftsOf(stored))
  const [isAsked, setAsked] = useState(false)
  const wanted = retentionIn(drafts)
  const isChanged = wanted === undefined || KINDS.some(({ kind }) => wanted[kind] !== stored[kind])
  const save = useChange((next: Retention) => setRetention(name, next, stored.version), {
    failed: 'The retention was not changed',
    changes: [['retention', projectId(name)]],
    onDone: (saved) => {
      onSaved(saved)
      notify({ title: 'The retention was changed' })
    },
  })
  const submit = () => {
    if (wanted === undefined) return
    if (isShorter(wanted, stored)) setAsked(true)
    else save.mutate(wanted)
  }
  return (
    <form
      className="flex max-w-2xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <ul className="divide-y divide-hair border-y border-hair">
        {KINDS.map(({ kind, label, about }) => (
          <li key={kind} className="flex items-center gap-4 py-2">
            <div className="min-w-0 flex-1">
              <p className="text-strong">{label}</p>
              <p className="text-xs text-muted">{about}</p>
            </div>
            {mayChange ? (
              <Input
                label={`Days for ${label}`}
                inputMode="numeric"
                placeholder="without end"
                className="w-32"
                end={drafts[kind] !== '' && <span className="text-xs">days</span>}
                aria-invalid={retentionIn({ ...draftsOf(stored), [kind]: drafts[kind] }) === undefined}
                value={drafts[kind]}
                onValueChange={(text) => setDrafts({ ...drafts, [kind]: text.trim() })}
              />
            ) : (
              <span className="tabular text-normal">{daysText(stored[kind])}</span>
            )}
          </li>
        ))}
      </ul>
      {wanted === undefined && (
        <p role="alert" className="text-error">
          Days are whole numbers from 1 to 36,500, or nothing.
        </p>
      )}
      {mayChange && (
        <div className="flex gap-2">
          <Button
            type="submit"
            look="primary"
            disabled={!isChanged || wanted === undefined || save.isPending}
          >
            Save
          </Button>
          <Button disabled={!isChanged} onClick={() => setDrafts(draftsOf(stored))}>
            Discard
          </Button>
        </div>
      )}
      <ConfirmDialog
        title="Keep data for a shorter time?"
        consequence={`Older data of ${projectId(name)} is deleted for good. A longer time that is set later does not bring it back.`}
        action="Save"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => wanted !== undefined && save.mutate(wanted)}
      />
    </form>
  )
}

function daysText(days: number | null): string {
  return days === null ? 'without end' : `${days} ${days === 1 ? 'day' : 'days'}`
}
