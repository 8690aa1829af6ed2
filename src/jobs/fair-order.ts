/** What the order of waiting jobs depends on. */
interface WaitingJob {
  id: string
  group_key: string | null
}

/**
 * The order in which waiting jobs will run one at a time: groups take turns, the one that has waited longest since its
 * last job goes first, and the jobs of one group keep their order.
 * @param waiting oldest first
 * @param lastStarted when each group's newest job started, ISO 8601
 */
export function fairOrder<Job extends WaitingJob>(
  waiting: readonly Job[],
  lastStarted: ReadonlyMap<string, string>,
): Job[] {
  const groups = new Map<string, Job[]>()
  for (const job of waiting) groups.set(groupOf(job), [...(groups.get(groupOf(job)) ?? []), job])
  const byTurn = [...groups].sort(([one], [other]) => compare(startOf(one), startOf(other)))
  const ordered: Job[] = []
  for (let round = 0; ordered.length < waiting.length; round++) {
    for (const [, jobs] of byTurn) ordered.push(...jobs.slice(round, round + 1))
  }
  return ordered

  /** A group of which nothing has run goes before all others. */
  function startOf(group: string): string {
    return lastStarted.get(group) ?? ''
  }
}

function groupOf({ group_key }: WaitingJob): string {
  return group_key ?? ''
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
