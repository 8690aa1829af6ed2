import { roundRobin } from '../fairness/round-robin.ts'

/** What the order of waiting jobs depends on. */
interface WaitingJob {
  id: string
  entity: string
  group_key: string | null
}

/** When the newest job of each group and of each entity started, ISO 8601. */
interface LastStarted {
  groups: ReadonlyMap<string, string>
  entities: ReadonlyMap<string, string>
}

/**
 * The order in which waiting jobs will run one at a time: entities take turns, and within each its groups. What has
 * waited longest since its last job goes first, and the jobs of one group keep their order.
 * @param waiting oldest first
 */
export function fairOrder<Job extends WaitingJob>(
  waiting: readonly Job[],
  { groups, entities }: LastStarted,
): Job[] {
  const byEntity = queuesOf(waiting, ({ entity }) => entity, entities)
  return inTurn(
    byEntity.map((queue) => ({
      ...queue,
      jobs: inTurn(queuesOf(queue.jobs, ({ group_key }) => group_key ?? '', groups)),
    })),
  )
}

interface Queue<Job> {
  /** When its last job started; empty where none has, which goes before all others. */
  since: string
  jobs: Job[]
}

function queuesOf<Job>(
  jobs: readonly Job[],
  nameOf: (job: Job) => string,
  lastStarted: ReadonlyMap<string, string>,
): Queue<Job>[] {
  const named = [...Map.groupBy(jobs, nameOf)]
  return named.map(([name, own]) => ({ since: lastStarted.get(name) ?? '', jobs: own }))
}

function inTurn<Job>(queues: readonly Queue<Job>[]): Job[] {
  const byTurn = queues.toSorted((one, other) => compare(one.since, other.since))
  return roundRobin(byTurn.map(({ jobs }) => jobs))
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
