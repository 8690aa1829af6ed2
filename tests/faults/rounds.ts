import { env } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { seeded } from '../../src/test-random.ts'
import type { Victim } from './installation.ts'
import { refusals } from './send.ts'

/** Work of one kind, and how much of it is to be done between two faults, so that each comes in the midst of work. */
export interface Work {
  name: string
  done: () => number
  between: number
}

const AWAY_MS_MAX = 4_000

/** Printed, so that a run that failed can be repeated. */
const SEED = Number(env['HEDDLE_FAULT_SEED'] ?? Date.now() % 1_000_000)

/** By hand many: what HEDDLE_FAULT_ROUNDS says; undefined for the few of every run. */
export const ROUNDS_BY_HAND =
  env['HEDDLE_FAULT_ROUNDS'] === undefined ? undefined : Number(env['HEDDLE_FAULT_ROUNDS'])

interface Rounds {
  /** Of a run of all tests. */
  count: number
  victims: readonly Victim[]
  /** Those of the first rounds. */
  first?: readonly Victim[]
  works: readonly Work[]
  /** @throws Error when work takes longer to go on */
  recoveryMsMax: number
}

/**
 * Makes one part after the other fail while work goes on, and prints how long after its return all kinds of work went
 * on.
 */
export async function runRounds({ count, victims, first = [], works, recoveryMsMax }: Rounds): Promise<void> {
  process.stdout.write(`HEDDLE_FAULT_SEED=${SEED}\n`)
  const random = seeded(SEED)
  await Promise.all(works.map((work) => untilMore(work, recoveryMsMax)))
  for (let round = 0; round < (ROUNDS_BY_HAND ?? count); round++) {
    const victim = first[round] ?? victims[Math.floor(random() * victims.length)]
    if (victim === undefined) throw new TypeError('there are victims')
    process.stdout.write(`${victim.name} fails\n`)
    await victim.kill()
    await delay(random() * AWAY_MS_MAX)
    await victim.start()
    const back = performance.now()
    const seconds = await Promise.all(
      works.map(async (work) => {
        await untilMore(work, recoveryMsMax)
        return `${work.name} ${((performance.now() - back) / 1000).toFixed(1)} s`
      }),
    )
    process.stdout.write(`${victim.name} is back; went on after: ${seconds.join(', ')}\n`)
  }
}

async function untilMore({ name, done, between }: Work, msMax: number): Promise<void> {
  const from = done()
  refusals.clear()
  await expect
    .poll(done, { timeout: msMax, interval: 50 })
    .toBeGreaterThan(from + between)
    .catch((error: unknown) => {
      throw new Error(`No more ${name}: ${JSON.stringify([...refusals])}`, { cause: error })
    })
}
