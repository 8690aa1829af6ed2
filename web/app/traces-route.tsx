import { Suspense, useEffect } from 'react'
import { lazyPart, loadPart } from '../components/lazy-part.ts'
import { callSearch } from '../features/call/search.ts'
import { TracesPage } from '../features/traces/traces-page.tsx'

const loadDetail = () => loadPart(() => import('../features/call/detail/call-detail.tsx'))
const CallDetail = lazyPart(async () => (await loadDetail()).CallDetail)

/** The list of calls, in whose panel is what the page of a call shows beside the tree. */
export function TracesRoute() {
  // The first row that is opened should not wait for it.
  useEffect(() => void loadDetail(), [])
  return (
    <TracesPage
      detail={(name, id, { tab, onTab }) => (
        <Suspense>
          <CallDetail name={name} id={id} tab={callSearch.parse({ tab }).tab} onTab={onTab} />
        </Suspense>
      )}
    />
  )
}
