import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type ProjectName, projectId } from '../../../api/project.ts'
import { type Redaction, setRedaction } from '../../../api/redaction.ts'
import { Button } from '../../../components/button.tsx'
import { notify } from '../../../components/toast.ts'
import { useChange } from '../parts/use-change.ts'
import { draftOf, isComplete, newDraft, type RuleDraft, ruleOf } from './rule-draft.ts'
import { RuleRow } from './rule-row.tsx'
import { TestBox } from './test-box.tsx'

interface RulesEditorProps {
  name: ProjectName
  stored: Redaction
  hits: Redaction['hits']
  onSaved: (saved: Redaction) => void
}

/** The rules of a project, to be changed and tried before they are saved. */
export function RulesEditor({ name, stored, hits, onSaved }: RulesEditorProps) {
  const [drafts, setDrafts] = useState(() => stored.rules.map(draftOf))
  const rules = drafts.map(ruleOf)
  const isChanged = JSON.stringify(rules) !== JSON.stringify(stored.rules)
  const hitsOf = new Map(hits.map((of) => [of.rule, of.hits]))
  const save = useChange(() => setRedaction(name, rules, stored.version), {
    failed: 'The rules were not changed',
    changes: [['redaction', projectId(name)]],
    onDone: (saved) => {
      onSaved(saved)
      notify({ title: 'The rules were changed', detail: 'They hold for what arrives from now on.' })
    },
  })
  const change = (index: number, rule: RuleDraft) => setDrafts(drafts.with(index, rule))
  const moveUp = (index: number) => {
    const [moved] = drafts.slice(index, index + 1)
    if (moved !== undefined) setDrafts(drafts.toSpliced(index, 1).toSpliced(index - 1, 0, moved))
  }
  return (
    <>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(undefined)
        }}
      >
        {drafts.length === 0 ? (
          <p className="text-muted">No rules: what arrives is stored as it is.</p>
        ) : (
          <ol aria-label="Rules" className="divide-y divide-hair border-y border-hair">
            {drafts.map((rule, index) => (
              <RuleRow
                key={rule.id}
                rule={rule}
                hits={hitsOf.get(rule.name)}
                isFirst={index === 0}
                onChange={(next) => change(index, next)}
                onUp={() => moveUp(index)}
                onRemove={() => setDrafts(drafts.toSpliced(index, 1))}
              />
            ))}
          </ol>
        )}
        <div className="flex flex-wrap gap-2">
          <Button
            icon={<Plus size={14} aria-hidden />}
            onClick={() => setDrafts([...drafts, newDraft(drafts.map((rule) => rule.name))])}
          >
            Add a rule
          </Button>
          <Button
            type="submit"
            look="primary"
            disabled={!isChanged || !drafts.every(isComplete) || save.isPending}
          >
            Save
          </Button>
          <Button disabled={!isChanged} onClick={() => setDrafts(stored.rules.map(draftOf))}>
            Discard
          </Button>
        </div>
      </form>
      <TestBox name={name} rules={drafts.filter(isComplete).map(ruleOf)} />
    </>
  )
}
