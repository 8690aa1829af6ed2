import { getRouteApi } from '@tanstack/react-router'
import { roleIn } from '../../api/accounts.ts'
import { projectId } from '../../api/project.ts'
import { ErasureTab } from './erasure-tab.tsx'
import { RedactionTab } from './redaction/redaction-tab.tsx'
import { RetentionTab } from './retention-tab.tsx'
import { SettingsFrame } from './settings-frame.tsx'

const route = getRouteApi('/$entity/$project/settings')

/** What of a project is never stored, how long it is kept, and its erasure. */
export function ProjectSettingsPage() {
  const name = route.useParams()
  const { tab } = route.useSearch()
  const key = projectId(name)
  return (
    <SettingsFrame title={`Settings of ${key}`} here={tab} project={name}>
      {(me) => {
        const role = roleIn(me, name.entity)
        if (tab === 'retention') return <RetentionTab key={key} name={name} role={role} />
        if (tab === 'erasure') return <ErasureTab key={key} name={name} role={role} />
        return <RedactionTab key={key} name={name} role={role} />
      }}
    </SettingsFrame>
  )
}
