import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { MeRes } from '../../api/accounts.ts'
import { type EntityLimits, type EntityLimitsRes, limitsQuery, setLimits } from '../../api/limits.ts'
import { Button } from '../../components/button.tsx'
import { Input } from '../../components/input.tsx'
import { notify } from '../../components/toast.ts'
import { draftsOf, LIMITS, type LimitDrafts, limitIn, limitsIn } from './limits.ts'
import { Edited } from './parts/edited.tsx'
import { Loaded, ReadOnly, Section } from './parts/section.tsx'
import { useChange } from './parts/use-change.ts'
import { TeamSelect } from './team-select.tsx'

interface LimitsTabProps {
  me: MeRes
  team: string
  onTeam: (name: string) => void
}

/** What a team may use with all its keys and projects. */
export function LimitsTab({ me, team, onTeam }: LimitsTabProps) {
  const limits = useQuery(limitsQuery(team))
  return (
    <Section
      title="Limits"
      about="What a team may use with all its keys and projects together. A field without a number is no limit; a change holds from the next request on."
      form={
        <div className="flex flex-col gap-3">
          <div className="flex">
            <TeamSelect team={team} onTeam={onTeam} />
          </div>
          {!me.is_operator && <ReadOnly>Operators of this server change them.</ReadOnly>}
        </div>
      }
    >
      <Loaded query={limits} what="The limits">
        {(stored) => (
          <Edited key={team} stored={stored}>
            {(begun, onSaved) => <Form stored={begun} mayChange={me.is_operator} onSaved={onSaved} />}
          </Edited>
        )}
      </Loaded>
    </Section>
  )
}

interface FormProps {
  stored: EntityLimitsRes
  mayChange: boolean
  onSaved: (saved: EntityLimitsRes) => void
}

function Form({ stored, mayChange, onSaved }: FormProps) {
  const { entity, limits, storage_bytes_used, version } = stored
  const [drafts, setDrafts] = useState<LimitDrafts>(() => draftsOf(limits))
  const wanted = limitsIn(drafts)
  const isChanged = LIMITS.some(({ name }) => drafts[name] !== draftsOf(limits)[name])
  const save = useChange((next: EntityLimits) => setLimits(entity, next, version), {
    failed: 'The limits were not changed',
    onDone: (saved) => {
      onSaved(saved)
      notify({ title: 'The limits were changed' })
    },
  })
  return (
    <form
      className="flex max-w-2xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (wanted !== undefined) save.mutate(wanted)
      }}
    >
      <ul className="divide-y divide-hair border-y border-hair">
        {LIMITS.map(({ name, label, about, unit }) => (
          <li key={name} className="flex items-center gap-4 py-2">
            <div className="min-w-0 flex-1">
              <p className="text-strong">{label}</p>
              <p className="text-xs text-muted">
                {about}
                {name === 'storage_bytes' &&
                  storage_bytes_used !== null &&
                  `: ${shown(storage_bytes_used)} used`}
              </p>
            </div>
            {mayChange ? (
              <Input
                label={`Limit of ${label}`}
                inputMode="numeric"
                placeholder="no limit"
                className="w-48"
                end={<span className="text-xs">{unit}</span>}
                aria-invalid={limitIn(drafts[name]) === undefined}
                value={drafts[name]}
                onValueChange={(text) => setDrafts({ ...drafts, [name]: text.trim() })}
              />
            ) : (
              <span className="tabular text-normal">
                {limits[name] == null ? 'no limit' : `${shown(limits[name])} ${unit}`}
              </span>
            )}
          </li>
        ))}
      </ul>
      {wanted === undefined && (
        <p role="alert" className="text-error">
          Limits are whole numbers above zero, or nothing.
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
          <Button disabled={!isChanged} onClick={() => setDrafts(draftsOf(limits))}>
            Discard
          </Button>
        </div>
      )}
    </form>
  )
}

function shown(amount: number): string {
  return amount.toLocaleString('en-US')
}
