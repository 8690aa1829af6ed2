import type { Difference } from './compare.ts'
import { WANTED_IN_CALLS } from './wanted-in-calls.ts'
import { WANTED_IN_EVALUATION_RUNS } from './wanted-in-evaluation-runs.ts'
import { WANTED_IN_QUEUES } from './wanted-in-queues.ts'
import { WANTED_IN_THE_REST } from './wanted-in-the-rest.ts'
import { WANTED_IN_TYPED_OBJECTS } from './wanted-in-typed-objects.ts'

/** A difference that is meant to be; one that is no longer there fails the test. */
export interface WantedDifference {
  /** `scenario: title` of the requests, where `*` stands for any text. */
  at: readonly string[]
  /** Where in the reply: `status` or the path of a field; `*` as above. */
  place: string
  /** Only where the values are these: the reference's, then Heddle's. */
  values?: readonly [reference: unknown, heddle: unknown]
  why: string
  /** Set where the reference differs only sometimes, as its merges and threads go: the difference may be absent. */
  byChance?: true
}

/** Whether a difference found at `scenario: title` is this one; `at` is one of the patterns. */
export function matches(
  { place, values }: WantedDifference,
  at: string,
  { found, difference }: { found: string; difference: Difference },
): boolean {
  const shown = JSON.stringify([difference.reference, difference.heddle])
  return (
    isLike(at, found) &&
    isLike(place, difference.place) &&
    (values === undefined || JSON.stringify(values) === shown)
  )
}

function isLike(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w ]/gu, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}

const EVERYWHERE: readonly WantedDifference[] = [
  ...['expire_at', 'has_more', 'total_count', 'deleted_versions'].map((name) => ({
    at: ['*'],
    place: `*.${name}`,
    why: 'Newer clients read the field, which came after the compared version.',
  })),
  {
    at: ['*'],
    place: '*.wb_user_id',
    values: ['bG9jYWw=', 'local'],
    why: 'The reference lets its internal ids of users out.',
  },
  ...['wb_run_step', 'wb_run_step_end'].map((name) => ({
    at: ['*'],
    place: `*.${name}`,
    values: [0, null] as const,
    why: 'The hosted store cannot tell no step from step 0; a call that no run made has no step.',
  })),
  {
    at: ['*: a private ref'],
    place: 'status',
    values: [500, 400],
    why: 'A ref that no client may send is the mistake of the client.',
  },
  {
    at: ['*: one bad among good'],
    place: 'status',
    values: [400, 422],
    why: 'Newer clients look for the bad item of a batch on 422 and lose the others on 400.',
  },
  {
    at: ['*: a project without an entity'],
    place: 'status',
    values: [200, 400],
    why: 'Every project belongs to an entity; the check is in a layer of the hosted service that is not public.',
  },
]

export const WANTED_DIFFERENCES: readonly WantedDifference[] = [
  ...EVERYWHERE,
  ...WANTED_IN_CALLS,
  ...WANTED_IN_EVALUATION_RUNS,
  ...WANTED_IN_QUEUES,
  ...WANTED_IN_THE_REST,
  ...WANTED_IN_TYPED_OBJECTS,
]
