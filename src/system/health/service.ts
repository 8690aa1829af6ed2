import type { RawReply } from '../../http/route.ts'
import { createStoresHealth, type StoresHealthDeps } from './stores-health.ts'
import { createSystemCheck, type SystemCheckDeps } from './system-check.ts'
import type { TrainingHealthRes } from './wire.ts'

/** What monitors and clients ask before they rely on the server. */
export interface Health {
  /** Whether every store works. */
  ofStores(): Promise<RawReply>
  /** Whether the training API answers, as it does here. */
  ofTraining(): TrainingHealthRes
  /** Whether everything that training needs works. */
  systemCheck(): Promise<RawReply>
}

export function createHealth(deps: StoresHealthDeps & SystemCheckDeps): Health {
  return {
    ofStores: createStoresHealth(deps),
    ofTraining: () => ({ status: 'ok' }),
    systemCheck: createSystemCheck(deps),
  }
}
