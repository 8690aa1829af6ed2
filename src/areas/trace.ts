import type { Projects } from '../accounts/projects.ts'
import type { BlobOwner } from '../blob-sweep.ts'
import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import { createRedactionRemoval } from '../redaction/removal.ts'
import { redactionRoutes } from '../redaction/routes.ts'
import type { Redaction } from '../redaction/service.ts'
import type { Blobs } from '../stores/blobs/port.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { Mutations } from '../stores/trace-db/mutations.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import { annotationQueuesRoutes } from '../trace/annotation-queues/routes.ts'
import { type AnnotationQueues, createAnnotationQueues } from '../trace/annotation-queues/service.ts'
import { callFieldsRoutes } from '../trace/call-fields/routes.ts'
import { createCallFields } from '../trace/call-fields/service.ts'
import { callStatsRoutes } from '../trace/call-stats/routes.ts'
import { createCallStats } from '../trace/call-stats/service.ts'
import { callUsageRoutes } from '../trace/call-usage/routes.ts'
import { createCallUsage } from '../trace/call-usage/service.ts'
import { callsRoutes } from '../trace/calls/routes.ts'
import { type Calls, createCalls } from '../trace/calls/service.ts'
import { costsRoutes } from '../trace/costs/routes.ts'
import { type Costs, createCosts } from '../trace/costs/service.ts'
import { feedbackRoutes } from '../trace/feedback/routes.ts'
import { createFeedback, type Feedback } from '../trace/feedback/service.ts'
import { feedbackStatsRoutes } from '../trace/feedback-stats/routes.ts'
import { createFeedbackStats } from '../trace/feedback-stats/service.ts'
import { filesOwner } from '../trace/files/blob-owner.ts'
import { filesRoutes } from '../trace/files/routes.ts'
import { createFiles, type Files } from '../trace/files/service.ts'
import { objectsRoutes } from '../trace/objects/routes.ts'
import { createObjects, type Objects } from '../trace/objects/service.ts'
import { otlpRoutes } from '../trace/otlp/routes.ts'
import { createOtlp } from '../trace/otlp/service.ts'
import { projectRoutes } from '../trace/project/routes.ts'
import { type CallRetention, createProject } from '../trace/project/service.ts'
import { refsRoutes } from '../trace/refs/routes.ts'
import { createRefs, type Refs } from '../trace/refs/service.ts'
import { registryRoutes } from '../trace/registry/routes.ts'
import { createRegistry } from '../trace/registry/service.ts'
import { tablesRoutes } from '../trace/tables/routes.ts'
import { createTables, type Tables } from '../trace/tables/service.ts'
import { threadsRoutes } from '../trace/threads/routes.ts'
import { createThreads } from '../trace/threads/service.ts'
import { typedObjectsRoutes } from '../trace/typed-objects/routes.ts'
import { createTypedObjects, type TypedObjects } from '../trace/typed-objects/service.ts'
import { unsupportedRoutes } from '../trace/unsupported/routes.ts'
import type { Area } from './area.ts'
import { createTraceRemovals } from './trace-removals.ts'

export interface TraceDeps {
  traces: TraceDb
  control: ControlDb
  peers: Peers
  blobs: Blobs
  projects: Projects
  redaction: Redaction
  mutations: Mutations
  jobQueue: JobQueue
  /** How long projects keep their calls. */
  retention: CallRetention
  log: Log
  /** Memory for recent calls, in bytes; 0 where other servers write to the same trace database. */
  recentCallsBytes: number
}

/** Calls and everything that refers to them. It needs no other area. */
export interface TraceArea extends Area {
  annotationQueues: AnnotationQueues
  blobOwners: BlobOwner[]
  calls: Calls
  costs: Costs
  feedback: Feedback
  files: Files
  objects: Objects
  refs: Refs
  tables: Tables
  typedObjects: TypedObjects
}

export function createTraceArea(deps: TraceDeps): TraceArea {
  const { traces, control, peers, blobs, projects, mutations, jobQueue } = deps
  const { redaction, retention, log, recentCallsBytes } = deps
  const objects = createObjects({ traces, projects, redaction })
  const tables = createTables({ traces, projects, redaction })
  const annotationQueues = createAnnotationQueues({ control, traces, projects })
  const feedback = createFeedback({ traces, projects, objects, annotationQueues, redaction })
  const costs = createCosts({ traces, projects })
  const refs = createRefs({ objects, tables })
  const recentBytesMax = recentCallsBytes
  const calls = createCalls({
    traces,
    projects,
    mutations,
    redaction,
    feedback,
    costs,
    refs,
    log,
    recentBytesMax,
  })
  const files = createFiles({ traces, blobs, peers, projects, mutations, redaction })
  const typedObjects = createTypedObjects({ objects, tables, files })
  const project = createProject({ traces, files, projects, redaction, retention })
  return {
    annotationQueues,
    calls,
    costs,
    feedback,
    files,
    objects,
    refs,
    tables,
    typedObjects,
    blobOwners: [filesOwner(traces)],
    removals: [
      ...createTraceRemovals({ traces, control, mutations, jobQueue, log, calls, files, objects }),
      createRedactionRemoval({ control, redaction }),
    ],
    storedBy: project.storedBy,
    routes: [
      ...callsRoutes(calls),
      ...otlpRoutes(createOtlp({ calls, objects, files, redaction, peers })),
      ...callUsageRoutes(createCallUsage({ calls })),
      ...callFieldsRoutes(createCallFields({ traces })),
      ...callStatsRoutes(createCallStats({ traces, costs })),
      ...threadsRoutes(createThreads({ traces })),
      ...filesRoutes(files),
      ...tablesRoutes(tables),
      ...refsRoutes(refs),
      ...registryRoutes(createRegistry({ objects })),
      ...objectsRoutes(objects),
      ...typedObjectsRoutes(typedObjects),
      ...annotationQueuesRoutes(annotationQueues),
      ...feedbackRoutes(feedback),
      ...feedbackStatsRoutes(createFeedbackStats({ traces })),
      ...costsRoutes(costs),
      ...projectRoutes(project),
      ...redactionRoutes(redaction),
      ...unsupportedRoutes(),
    ],
  }
}
