import { ClientError, unavailable } from '../../../errors.ts'
import { createFairQueue } from '../../../fairness/fair-queue.ts'
import { createActiveOwners } from './active-owners.ts'
import { createCommitGroups } from './commit-groups.ts'
import { createPacing } from './pacing.ts'
import { createPauses, type Pauses } from './pauses.ts'

/** Bytes of encoded rows that may wait for one table before further writers are refused with Retry-After. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024

/** The share of these that one owner may use, so that a flood leaves room for others. */
const OWNER_BYTES_MAX = WAITING_BYTES_MAX * 0.75

/** The share that one entity may use with all of its projects. */
const ENTITY_BYTES_MAX = WAITING_BYTES_MAX * 0.875

interface Waiting {
  owner: string
  /** Encoded. */
  rows: Buffer
  resolve: () => void
  reject: (error: unknown) => void
}

/** Writes rows. They are durable when `kept` resolves; the next group need not wait for that. */
type Commit = (rows: readonly Buffer[]) => Promise<{ kept: Promise<void> }>

export interface GroupCommit {
  /**
   * Resolves when an owner's encoded rows are on disk.
   * @throws 503 when too many bytes wait; what the commit failed with.
   */
  write(owner: string, rows: Buffer): Promise<void>
  /** Resolves when nothing waits and no write is in progress; nothing may be written afterwards. */
  drained(): Promise<void>
}

/**
 * Group commit: while one commit runs, later writers wait together and share the next. A commit costs an fsync, so a
 * hundred concurrent writers pay for one, and each gets its answer only after its rows are on disk. Which rows are a
 * group: `commit-groups.ts`. While several owners are active, one with more rows waiting pauses between its groups.
 * @param sessions each commits one group at a time
 * @param pauses those of the other work of the same owners
 */
export function createGroupCommit(sessions: readonly Commit[], pauses: Pauses = createPauses()): GroupCommit {
  /** Weighed by bytes. */
  const queue = createFairQueue<Waiting>()
  const active = createActiveOwners()
  const idle = [...sessions]
  const running = new Set<Promise<void>>()
  /** Owners whose rows a session is writing: the rows of one owner are written in their order. */
  const writing = new Set<string>()
  const pacing = createPacing({ queue, active, pauses, onEnd: startIdle })
  const groups = createCommitGroups({ queue, active, pacing })
  let isDraining = false

  const takeGroup = (): Waiting[] => groups.take(writing, isDraining)

  /** Commits group after group until no rows wait that this session may write. */
  async function run(commit: Commit, first: Waiting[]): Promise<void> {
    let settling = Promise.resolve()
    for (let group = first; group.length > 0; group = takeGroup()) {
      const owners = new Set(group.map(({ owner }) => owner))
      for (const owner of owners) writing.add(owner)
      // Rows that this group left out may be written by an idle session.
      startIdle()
      const started = performance.now()
      const { settled } = await commitGroup(group, commit)
      for (const owner of owners) {
        writing.delete(owner)
        pacing.worked(owner, performance.now() - started)
      }
      await settling
      settling = settled
    }
    await settling
  }

  function startIdle(): void {
    const commit = idle.at(-1)
    const group = commit === undefined ? [] : takeGroup()
    if (commit === undefined || group.length === 0) return
    idle.pop()
    const runs = run(commit, group).finally(() => {
      running.delete(runs)
      idle.push(commit)
      startIdle()
    })
    running.add(runs)
  }

  return {
    write(owner, rows) {
      active.note(owner)
      const bytes = rows.byteLength
      const [all, own, ofEntity] = [queue.weight(), queue.weight(owner), queue.weightOfEntity(owner)]
      // Where nothing else waits, one writer's rows are accepted in any number.
      const isFull = all > 0 && all + bytes > WAITING_BYTES_MAX
      const isOwnersFull = own > 0 && own + bytes > OWNER_BYTES_MAX
      const isEntitysFull = ofEntity > 0 && ofEntity + bytes > ENTITY_BYTES_MAX
      if (isFull || isOwnersFull || isEntitysFull)
        return Promise.reject(unavailable('Too many writes are waiting for the disk', 2))
      return new Promise<void>((resolve, reject) => {
        queue.add(owner, { owner, rows, resolve, reject }, bytes)
        startIdle()
      })
    },
    async drained() {
      isDraining = true
      startIdle()
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/**
 * Writes a group; its writers have their results when `settled` resolves. A refused group is halved until the refused
 * rows are alone, so that one bad row neither fails its neighbours nor costs each of them a commit.
 */
async function commitGroup(
  group: readonly Waiting[],
  commit: Commit,
  order: 'as it came' | 'by owner' = 'as it came',
): Promise<{ settled: Promise<void> }> {
  try {
    const { kept } = await commit(group.map((writer) => writer.rows))
    return { settled: settle(group, kept) }
  } catch (error) {
    // A single write cannot be halved, and an error of the store would fail every half.
    const isOfAll = group.length === 1 || (error instanceof ClientError && error.status === 503)
    if (isOfAll) return { settled: settle(group, Promise.reject(error)) }
    // Ordered by owner, so that an owner with many bad rows shares few halves with others.
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
