import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Member } from '../../api/accounts.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { eraseProject } from '../../api/retention.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmByName } from './confirm-by-name.tsx'
import { ReadOnly, Section } from './parts/section.tsx'
import { useChange } from './parts/use-change.ts'

interface ErasureTabProps {
  name: ProjectName
  role: Member['role'] | undefined
}

/** Erases a project with everything in it. */
export function ErasureTab({ name, role }: ErasureTabProps) {
  const id = projectId(name)
  const navigate = useNavigate()
  const [isAsked, setAsked] = useState(false)
  const erase = useChange(() => eraseProject(name), {
    failed: 'The erasure was not begun',
    changes: [['accounts', 'erasures'], ['projects']],
    onDone: (receipt) => void navigate({ to: '/settings', search: { tab: 'erasures', open: receipt.id } }),
  })
  return (
    <Section
      title="Erasure"
      about={`Erases ${id} with everything in it: calls, feedback, objects, files, runs, artifacts, models and their checkpoints. Nobody can read it from then on; its bytes are removed from the disk after that, which the receipt reports. Backups made before keep it.`}
    >
      {role === 'admin' ? (
        <div className="flex">
          <Button look="danger" disabled={erase.isPending} onClick={() => setAsked(true)}>
            Erase the project …
          </Button>
        </div>
      ) : (
        <ReadOnly>
          Admins of {name.entity} erase its projects; you are a {role ?? 'guest'} there.
        </ReadOnly>
      )}
      <ConfirmByName
        title={`Erase ${id}?`}
        name={name.project}
        consequence="Everything in the project is erased. This cannot be undone."
        action="Erase the project"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => erase.mutate(undefined)}
      />
    </Section>
  )
}
