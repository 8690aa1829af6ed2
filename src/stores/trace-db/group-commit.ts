import { ClientError, unavailable } from '../../errors.ts'
import { createOwnerLines } from '../../owner-lines.ts'
import { createActiveOwners } from './active-owners.ts'

/** Bytes of encoded rows that may wait for one table before further writers are told to come back. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024

/** What of these one owner may take, so that a flood leaves room for the others. */
const OWNER_BYTES_MAX = WAITING_BYTES_MAX * 0.75

/**
 * Bytes of encoded rows committed at once: enough to amortise an fsync, and few enough that who comes meanwhile does not wait
 * for long. One writer's rows are never divided.
 */
const COMMIT_BYTES_MAX = 2 * 1024 * 1024

/** The same while several owners write: each waits for what another is committing, and for what it shares a commit with. */
const SHARED_COMMIT_BYTES_MAX = 512 * 1024

interface Waiting {
  owner: string
  /** Encoded. */
  rows: string
  bytes: number
  resolve: () => void
  reject: (error: unknown) => void
}

/** Writes rows. They are durable when `kept` resolves, which the next rows need not wait for. */
type Commit = (rows: string) => Promise<{ kept: Promise<void> }>

/**
 * Group commit: while one commit runs, later writers wait together and share the next. A commit costs an fsync,
 * so a hundred concurrent writers pay for one, and each still hears only after its rows are on disk. Owners take turns:
 * who has much to write does not make another wait for all of it.
 */
export function createGroupCommit(commit: Commit): {
  write: (owner: string, rows: string) => Promise<void>
  drained: () => Promise<void>
} {
  /** Weighed by bytes. */
  const lines = createOwnerLines<Waiting>()
  const active = createActiveOwners()
  let running: Promise<void> | undefined

  function takeGroup(): Waiting[] {
    const bytesMax = active.count() > 1 ? SHARED_COMMIT_BYTES_MAX : COMMIT_BYTES_MAX
    const group: Waiting[] = []
    let bytes = 0
    for (let next = lines.take(); next !== undefined; next = lines.take()) {
      group.push(next)
      bytes += next.bytes
      if (bytes >= bytesMax) break
    }
    return group
  }

  async function run(): Promise<void> {
    let settling = Promise.resolve()
    while (lines.first() !== undefined) {
      const { settled } = await commitGroup(takeGroup(), commit)
      await settling
      settling = settled
      // Who writes meanwhile is of this run too.
      if (lines.first() === undefined) await settling
    }
    running = undefined
  }

  return {
    write(owner, rows) {
      active.note(owner)
      const bytes = Buffer.byteLength(rows)
      const [all, own] = [lines.weight(), lines.weight(owner)]
      // One writer's rows wait, however many they are, where nothing else does.
      const isFull = all > 0 && all + bytes > WAITING_BYTES_MAX
      const isOwnersFull = own > 0 && own + bytes > OWNER_BYTES_MAX
      if (isFull || isOwnersFull)
        return Promise.reject(unavailable('Too many writes are waiting for the disk', 2))
      return new Promise<void>((resolve, reject) => {
        lines.add(owner, { owner, rows, bytes, resolve, reject }, bytes)
        running ??= run()
      })
    },
    async drained() {
      await running
    },
  }
}

/**
 * Writes a group, whose writers hear of it by the time `settled` resolves. A group that is refused is halved until what is
 * refused is alone, so that one bad row neither fails its neighbours nor makes each of them cost a commit.
 */
async function commitGroup(
  group: readonly Waiting[],
  commit: Commit,
  order: 'as it came' | 'by owner' = 'as it came',
): Promise<{ settled: Promise<void> }> {
  try {
    const { kept } = await commit(group.map((writer) => writer.rows).join(''))
    return { settled: settle(group, kept) }
  } catch (error) {
    // What keeps one from being stored then keeps all of them.
    const isOfAll = group.length === 1 || (error instanceof ClientError && error.status === 503)
    if (isOfAll) return { settled: settle(group, Promise.reject(error)) }
    // Side by side, an owner who writes many bad rows shares few halves with others.
    const sorted = order === 'by owner' ? group : group.toSorted(byOwner)
    const middle = Math.ceil(sorted.length / 2)
    for (const half of [sorted.slice(0, middle), sorted.slice(middle)])
      await (await commitGroup(half, commit, 'by owner')).settled
    return { settled: Promise.resolve() }
  }
}

function byOwner(one: Waiting, other: Waiting): number {
  return one.owner === other.owner ? 0 : one.owner < other.owner ? -1 : 1
}

async function settle(group: readonly Waiting[], kept: Promise<void>): Promise<void> {
  try {
    await kept
    for (const writer of group) writer.resolve()
  } catch (error) {
    for (const writer of group) writer.reject(error)
  }
}
