import { LRUCache } from 'lru-cache'
import type { Peers } from '../../stores/control-db/peers.ts'
import { MONITOR_CLASS } from '../../trace/objects/object-class.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { type KnownMonitor, knownMonitors } from './active-monitors.ts'

/** Projects whose monitors are remembered, a few hundred bytes each. */
const PROJECTS_MAX = 10_000

/** Where other servers may change them, and end before they have sent the message. */
const REMEMBERED_MS = 10_000

/** The monitors of a project as they were published last, read once until one of them changes. */
export type MonitorsOfProjects = (projectId: string) => Promise<readonly KnownMonitor[]>

export function createMonitorsOfProjects({
  objects,
  peers,
}: {
  objects: Pick<Objects, 'lastPublished' | 'watchChanges'>
  peers: Pick<Peers, 'arePossible' | 'send' | 'onMessage'>
}): MonitorsOfProjects {
  const known = new LRUCache<string, Promise<KnownMonitor[]>>({
    max: PROJECTS_MAX,
    ttl: peers.arePossible ? REMEMBERED_MS : 0,
  })
  objects.watchChanges(({ project_id, base_object_class }) => {
    if (base_object_class !== MONITOR_CLASS && base_object_class !== undefined) return
    known.delete(project_id)
    peers.send('monitors', project_id)
  })
  peers.onMessage('monitors', (projectId) => {
    if (projectId === undefined) known.clear()
    else known.delete(projectId)
  })

  return (projectId) => {
    const before = known.get(projectId)
    if (before !== undefined) return before
    const found = knownMonitors(objects, projectId)
    known.set(projectId, found)
    found.catch(() => void known.delete(projectId))
    return found
  }
}
