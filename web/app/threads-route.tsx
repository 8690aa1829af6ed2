import { CallTurn } from '../features/call/call-turn.tsx'
import { ThreadsPage } from '../features/threads/threads-page.tsx'

/** Threads, whose turns are shown as calls are. */
export function ThreadsRoute() {
  return <ThreadsPage turn={(project, call) => <CallTurn project={project} call={call} />} />
}
