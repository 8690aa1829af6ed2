import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type WireServer } from '../wire/server.ts'
import { type Difference, differencesOf } from './compare.ts'
import { play } from './exchange.ts'
import { OPEN_DIFFERENCES } from './open-differences.ts'
import { type Reference, startReference } from './reference.ts'
import type { Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios/all.ts'
import { matches, WANTED_DIFFERENCES, type WantedDifference } from './wanted-differences.ts'

/** No scenario needs it, and its start would slow all four servers down. */
const WITHOUT_ENGINE = { HEDDLE_CACHE: '/nonexistent/cache' }

interface Found {
  scenario: Scenario
  /** `scenario: title` */
  found: string
  difference: Difference
}

const all: Found[] = []
const servers = new AsyncDisposableStack()

beforeAll(async () => {
  // What was made in the second of the start was made in this run.
  const since = new Date(Math.floor(Date.now() / 1000) * 1000)
  const [heddle, withoutMemory, clickhouse, sqlite] = await Promise.all([
    startServer(WITHOUT_ENGINE),
    // An answer must not depend on whether it comes from the memory of recent calls.
    startServer({ ...WITHOUT_ENGINE, HEDDLE_RECENT_CALLS_MB: '0' }),
    startReference('clickhouse'),
    startReference('sqlite'),
  ])
  for (const server of [heddle, withoutMemory, clickhouse, sqlite])
    servers.use<WireServer | Reference>(server)
  const references = { clickhouse, sqlite }
  for (const scenario of SCENARIOS) {
    const [theirs, ...ours] = await Promise.all([
      play(references[scenario.store].url, scenario),
      play(heddle.url, scenario),
      play(withoutMemory.url, scenario),
    ])
    for (const [index, { title }] of scenario.requests.entries()) {
      const found = `${scenario.name}: ${title}`
      for (const replies of ours) {
        const [reference, answer] = [theirs[index], replies[index]]
        if (reference === undefined || answer === undefined) throw new Error('A request was not answered')
        for (const difference of differencesOf(reference, answer, since))
          all.push({ scenario, found, difference })
      }
    }
  }
})

afterAll(() => servers.disposeAsync())

for (const scenario of SCENARIOS) {
  describe(scenario.name, () => {
    it.each(scenario.requests.map(({ title }) => title))('%s', (title) => {
      const unexplained = all
        .filter(({ found }) => found === `${scenario.name}: ${title}`)
        .filter(isUnexplained)
      expect(unexplained, shown(unexplained)).toEqual([])
    })
  })
}

describe('wanted and still there', () => {
  const certain = WANTED_DIFFERENCES.filter(({ byChance }) => byChance !== true)
  it.each(patternsOf(certain))('%s / %s', (at, _, wanted) => {
    expect(all.filter((each) => matches(wanted, at, each))).not.toEqual([])
  })
})

describe('the open differences', () => {
  it('are none', () => {
    const open = patternsOf(OPEN_DIFFERENCES).map(([at, , entry]) => {
      const there = all.filter((each) => matches(entry, at, each))
      return there.length === 0
        ? `${at}: is gone, take it from the list`
        : `${at}: ${entry.why}\n${shown(there)}`
    })
    expect(open, open.join('\n')).toEqual([])
  })
})

function isUnexplained(each: Found): boolean {
  return ![...WANTED_DIFFERENCES, ...OPEN_DIFFERENCES].some((known) =>
    known.at.some((at) => matches(known, at, each)),
  )
}

function patternsOf(
  known: readonly WantedDifference[],
): [at: string, place: string, known: WantedDifference][] {
  return known.flatMap((entry) =>
    entry.at.map((at): [string, string, WantedDifference] => [at, entry.place, entry]),
  )
}

/** One line a difference, for the message. */
function shown(found: readonly Found[]): string {
  return found.map(({ difference }) => `DIFF ${JSON.stringify(difference)}`).join('\n')
}
