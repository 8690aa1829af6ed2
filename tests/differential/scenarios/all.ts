import type { Scenario } from '../scenario.ts'
import { annotationQueues } from './annotation-queues.ts'
import { callsByFeedback, expandedCalls } from './call-details.ts'
import { callFilters } from './call-filters.ts'
import { callQueries } from './call-queries.ts'
import { callBatches, callWriting, callWritingV2 } from './call-writing.ts'
import { costs } from './costs.ts'
import { evaluationLists } from './evaluation-lists.ts'
import { evaluationRuns } from './evaluation-runs.ts'
import { feedback } from './feedback.ts'
import { files } from './files.ts'
import { labels } from './labels.ts'
import { objects } from './objects.ts'
import { otlp, spanInConflict } from './otlp.ts'
import { refs } from './refs.ts'
import { service } from './service.ts'
import { feedbackStats, usage } from './statistics.ts'
import { tables } from './tables.ts'
import { threads } from './threads.ts'
import { publishedObjects, typedObjects } from './typed-objects.ts'

/** Every scenario, in the order in which they are played. */
export const SCENARIOS: readonly Scenario[] = [
  callWriting,
  callWritingV2,
  callBatches,
  callQueries('at once'),
  callQueries('in parts'),
  callFilters('at once'),
  callFilters('in parts'),
  expandedCalls,
  callsByFeedback,
  objects,
  ...['ops', 'datasets', 'scorers', 'models', 'evaluations'].map(typedObjects),
  publishedObjects,
  evaluationLists,
  evaluationRuns,
  labels,
  tables,
  refs,
  files,
  feedback,
  annotationQueues,
  feedbackStats,
  costs,
  usage,
  threads,
  otlp,
  spanInConflict,
  service,
]
