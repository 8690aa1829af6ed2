import type { WantedDifference } from './wanted-differences.ts'

const SOURCES =
  'An op that is made without its source says so in words of Heddle’s own, so it has a digest of its own, as has what names it.'

const METHODS = ['evaluate', 'predict_and_score', 'summarize']

/** The groups of `/v2/{entity}/{project}`. */
export const WANTED_IN_TYPED_OBJECTS: readonly WantedDifference[] = [
  {
    at: [
      'typed objects of ops: creates v2*',
      'typed objects of ops: of nothing',
      'typed objects of ops: reads the object of v2',
      'typed objects of ops: reads *latest*',
      'typed objects of ops: lists the objects',
    ],
    place: '*.digest',
    why: SOURCES,
  },
  { at: ['typed objects of ops: reads *latest*'], place: 'body.code', why: SOURCES },
  { at: ['typed objects of ops: reads the object of v2'], place: 'body.obj.val.files.obj.py', why: SOURCES },
  ...['*.digest', 'body.scorer', 'body.obj.val.summarize'].map((place) => ({
    at: ['typed objects of scorers: *'],
    place,
    why: SOURCES,
  })),
  ...['*.digest', 'body.evaluation_ref', '*_op', ...METHODS.map((method) => `body.obj.val.${method}`)].map(
    (place) => ({
      at: ['typed objects of evaluations: *'],
      place,
      why: SOURCES,
    }),
  ),
  {
    at: [
      'typed objects of ops: lists',
      'typed objects of ops: lists limit=1',
      'typed objects of ops: lists *offset=1',
      'typed objects of ops: lists the others',
    ],
    place: 'body*',
    why: 'The latest version of each op, in the order of creation, as the store for local use has it; the hosted one lists all of them, in an order that depends on the page.',
  },
  {
    at: ['typed objects of *: reads the object of *', 'typed objects of *: lists the objects'],
    place: '*.wb_user_id',
    values: [null, 'local'],
    why: 'Who creates an object is its author, on whatever way; the reference forgets it here.',
  },
  {
    at: ['typed objects of *: deletes v0 again'],
    place: 'body',
    why: 'A client that learns when a version was deleted does not ask again.',
  },
  {
    at: [
      'typed objects of models: reads v0',
      'typed objects of models: reads v1',
      'typed objects of models: reads *latest*',
      'typed objects of models: reads what came back',
    ],
    place: 'body.digest',
    why: 'The digest is that of the version, whatever name it was asked for by; the reference repeats the name.',
  },
  {
    at: ['typed objects of models: with an attribute name'],
    place: 'status',
    values: [200, 400],
    why: 'An attribute in the place of a field would not be read back as one; the reference replaces the field.',
  },
  {
    at: ['published objects: reads other of datasets'],
    place: 'status',
    values: [500, 404],
    why: 'What is of another class is not in the group; the reference fails.',
  },
  ...[
    'published objects: reads model of datasets',
    'published objects: reads data of evaluations',
    'published objects: deletes a model as a dataset',
  ].map((at) => ({
    at: [at],
    place: 'status',
    values: [200, 404] as const,
    why: 'What is of another class is not in the group, just as no list of it has it; the reference looks for any object.',
  })),
  {
    at: ['published objects: lists what is left'],
    place: 'body.objs',
    why: 'A model is not deleted as a dataset.',
  },
]
