import type { KyselyPlugin } from 'kysely'
import { unavailable } from '../../errors.ts'
import type { Blobs } from '../blobs/port.ts'
import type { Compute } from '../compute/port.ts'
import { unavailableCompute } from '../compute/unavailable.ts'
import type { ControlDb } from '../control-db/port.ts'
import type { TraceDb } from '../trace-db/port.ts'

const REASON = 'the data of this server is being moved: until that is done it can be read, and not be changed'

/** A move takes minutes; clients ask again soon enough. */
const RETRY_AFTER_SECONDS = 30

/** Stores as they are, whose data can be read alone: what would change it is refused with 503. */
export function readOnly<
  Opened extends { traces: TraceDb; control: ControlDb; blobs: Blobs; readOnly: string | undefined },
>(stores: Opened): Opened {
  const { traces, control, blobs } = stores
  return {
    ...stores,
    readOnly: REASON,
    traces: {
      ...traces,
      insert: refuseLater,
      insertOnce: refuseLater,
      insertNative: refuseLater,
      command: refuseLater,
    },
    control: control.withPlugin(NO_CHANGES),
    blobs: { ...blobs, put: refuseLater, delete: refuseLater, deleteUnchanged: refuseLater },
  }
}

const CHANGES = new Set(['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode', 'MergeQueryNode'])

const NO_CHANGES: KyselyPlugin = {
  transformQuery({ node }) {
    return CHANGES.has(node.kind) ? refuse() : node
  },
  transformResult: async ({ result }) => result,
}

/** Engines need to store what they make. */
export function noCompute({ loraRankMax }: { loraRankMax: number }): Compute {
  return unavailableCompute(REASON, { loraRankMax, retryAfterSeconds: RETRY_AFTER_SECONDS })
}

function refuse(): never {
  throw unavailable(REASON, RETRY_AFTER_SECONDS)
}

async function refuseLater(): Promise<never> {
  return refuse()
}
