import { useQuery } from '@tanstack/react-query'
import type { Member } from '../../../api/accounts.ts'
import { type ProjectName, projectId } from '../../../api/project.ts'
import { type Redaction, redactionQuery } from '../../../api/redaction.ts'
import { formatCount } from '../../../components/format.ts'
import { EmptyState } from '../../../components/states.tsx'
import { Edited } from '../parts/edited.tsx'
import { Loaded, ReadOnly, Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { ACTIONS, draftOf, soughtText } from './rule-draft.ts'
import { RulesEditor } from './rules-editor.tsx'
import { TestBox } from './test-box.tsx'

interface RedactionTabProps {
  name: ProjectName
  role: Member['role'] | undefined
}

/** What is removed from the data of a project before it is stored. */
export function RedactionTab({ name, role }: RedactionTabProps) {
  const redaction = useQuery(redactionQuery(name))
  return (
    <Section
      title="Redaction"
      about="What is removed before data is stored: dropped, masked, or replaced by a hash that is the same for equal values. Of rules that find one value the first counts. What is stored already stays."
      form={
        role !== 'admin' && (
          <ReadOnly>
            Admins of {name.entity} change the rules; you are a {role ?? 'guest'} there.
          </ReadOnly>
        )
      }
    >
      <Loaded query={redaction} what="The rules">
        {(stored) =>
          role === 'admin' ? (
            <Edited key={projectId(name)} stored={stored}>
              {(begun, onSaved) => (
                <RulesEditor name={name} stored={begun} hits={stored.hits} onSaved={onSaved} />
              )}
            </Edited>
          ) : (
            <>
              <StoredRules stored={stored} />
              {role === 'member' && <TestBox name={name} rules={stored.rules} />}
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

/** The rules, for those who may not change them. */
function StoredRules({ stored: { rules, hits } }: { stored: Redaction }) {
  if (rules.length === 0) return <EmptyState title="No rules: what arrives is stored as it is" />
  return (
    <Table
      label="Rules"
      headings={['Name', 'Action', 'Looks for', 'Found']}
      rows={rules.map((rule, index) => ({
        key: rule.name,
        cells: [
          rule.name,
          ACTIONS.find(({ value }) => value === rule.action)?.label,
          soughtText(draftOf(rule)),
          formatCount(hits[index]?.hits),
        ],
      }))}
    />
  )
}
