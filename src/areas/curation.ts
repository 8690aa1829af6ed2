import { curationRoutes } from '../curation/routes.ts'
import { createCuration } from '../curation/service.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import type { Area } from './area.ts'
import type { TraceArea } from './trace.ts'
import type { TrainingArea } from './training.ts'

export interface CurationDeps {
  control: ControlDb
  traces: TraceDb
  trace: Pick<TraceArea, 'annotationQueues' | 'calls' | 'feedback' | 'refs' | 'typedObjects'>
  training: Pick<TrainingArea, 'jobs' | 'models' | 'registry'>
}

/** What makes training data of calls. */
export function createCurationArea({ control, traces, trace, training }: CurationDeps): Area {
  return { routes: curationRoutes(createCuration({ ...trace, ...training, control, traces })) }
}
