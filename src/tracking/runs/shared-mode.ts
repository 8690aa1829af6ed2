import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'

/**
 * Wire: several programs of `mode="shared"` log to one run, each counting its lines from 0 and without their steps,
 * which the service would number; here they would replace each other's. All their requests have this header.
 * @throws 400
 */
export function refuseShared({ header }: Pick<CallContext, 'header'>): void {
  if (header('x-wandb-use-async-filestream') !== undefined)
    throw invalidRequest(
      'wandb.init(mode="shared") is not supported: let each program log to a run of its own',
    )
}
