import type { Projects } from '../accounts/projects.ts'
import type { AuthMode } from '../accounts/sessions/me.ts'
import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import type { Removal } from '../removal.ts'
import { createReceiptsRemoval } from '../retention/erasures/removal.ts'
import { erasuresRoutes } from '../retention/erasures/routes.ts'
import { createErasures } from '../retention/erasures/service.ts'
import { retentionRoutes } from '../retention/settings/routes.ts'
import type { RetentionSettings } from '../retention/settings/service.ts'
import { createUpkeep, type Upkeep } from '../retention/upkeep.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { Mutations } from '../stores/trace-db/mutations.ts'
import type { Accounts } from './accounts.ts'
import type { Area } from './area.ts'

export interface RetentionDeps {
  auth: AuthMode
  control: ControlDb
  peers: Peers
  dropControlLog: () => void
  mutations: Mutations
  jobQueue: JobQueue
  log: Log
  projects: Projects
  settings: RetentionSettings
  accounts: Pick<Accounts, 'audit' | 'identity' | 'keys' | 'users'>
  /** Of all areas; each removes its own data. */
  removals: readonly Removal[]
}

/** How long data stays, and what is erased on request. */
export interface RetentionArea extends Area {
  upkeep: Upkeep
}

export function createRetentionArea(deps: RetentionDeps): RetentionArea {
  const { control, jobQueue, settings } = deps
  const removals: Removal[] = [
    { eraseProjects: (projectIds) => jobQueue.forgetProjects(projectIds) },
    ...deps.removals,
    settings.removal,
    createReceiptsRemoval({ control }),
  ]
  const erasures = createErasures({ ...deps, ...deps.accounts, removals })
  const upkeep = createUpkeep({ ...deps, removals })
  return {
    upkeep,
    routes: [...retentionRoutes(settings), ...erasuresRoutes(erasures)],

    /** Closes again what is being erased, and begins to look for what is too old. */
    async start() {
      await using starting = new AsyncDisposableStack()
      starting.use(await erasures.start())
      await upkeep.start()
      return starting.move()
    },
  }
}
