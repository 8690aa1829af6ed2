import type { WantedDifference } from './wanted-differences.ts'

const LETS_OUT = 'The reference lets its internal ids of projects and users out.'

export const WANTED_IN_QUEUES: readonly WantedDifference[] = [
  {
    at: ['annotation queues: *'],
    place: '*.project_id',
    values: ['ZGlmZmVyZW50aWFsL2Fubm90YXRpb24tcXVldWVz', 'differential/annotation-queues'],
    why: LETS_OUT,
  },
  {
    at: ['annotation queues: *'],
    place: '*.annotator_user_id',
    values: ['bG9jYWw=', 'local'],
    why: LETS_OUT,
  },
  {
    at: ['annotation queues: items *'],
    place: '*.annotator_user_id',
    values: ['', null],
    why: 'Nobody is null, as the schema allows; the reference says the empty text.',
  },
  {
    at: ['queues limit -1', 'queues offset -1', 'items limit -1'].map(
      (title) => `annotation queues: ${title}`,
    ),
    place: 'status',
    values: [200, 400],
    why: 'Negative pages are refused, as they are for calls and objects.',
  },
  {
    at: [
      'adds to an unknown queue',
      'adds after its end',
      'items of an unknown queue',
      'items after its end',
    ].map((title) => `annotation queues: ${title}`),
    place: 'status',
    values: [200, 404],
    why: 'A queue that is not there is not found; the reference does not look, and fills queues that nobody can read.',
  },
  {
    at: ['annotation queues: statistics after its end'],
    place: 'body.stats[0].*',
    why: 'Nothing is in a queue that is not there.',
  },
  {
    at: ['annotation queues: adds one that is there twice'],
    place: 'body.duplicates',
    values: [2, 1],
    why: 'A call counts once; the reference counts it as often as it is named, but only where no other call is new.',
  },
  {
    at: ['annotation queues: progress of an unknown item'],
    place: 'status',
    values: [400, 404],
    why: 'An item that is not there is not found.',
  },
]
