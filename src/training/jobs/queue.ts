/** What the order of waiting jobs depends on. */
export interface WaitingJob {
  id: string
  model_id: string
}

/**
 * The order in which the waiting jobs of one base model will run: models take turns, whoever has waited longest since
 * its last job goes first, and the jobs of one model keep their order.
 * @param waiting oldest first
 * @param lastStarted when each model's newest job started, ISO 8601
 */
export function fairOrder<Job extends WaitingJob>(
  waiting: readonly Job[],
  lastStarted: ReadonlyMap<string, string>,
): Job[] {
  const turns = new Map<string, Job[]>()
  for (const job of waiting) turns.set(job.model_id, [...(turns.get(job.model_id) ?? []), job])
  const models = [...turns.values()].sort((one, other) => compare(startOf(one), startOf(other)))
  const ordered: Job[] = []
  for (let round = 0; ordered.length < waiting.length; round++) {
    for (const jobs of models) ordered.push(...jobs.slice(round, round + 1))
  }
  return ordered

  /** A model that never trained goes before all others. */
  function startOf(jobs: readonly Job[]): string {
    return lastStarted.get(jobs[0]?.model_id ?? '') ?? ''
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
