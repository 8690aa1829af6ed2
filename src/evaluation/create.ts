import type { Playground } from '../inference/playground/service.ts'
import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import { createOutbound } from '../outbound-http.ts'
import type { RemoteScorerOptions } from '../scorer-secrets.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { Calls } from '../trace/calls/service.ts'
import type { Feedback } from '../trace/feedback/service.ts'
import type { Files } from '../trace/files/service.ts'
import { createPlaceholderOps } from '../trace/objects/placeholder-ops.ts'
import type { Objects } from '../trace/objects/service.ts'
import type { Refs } from '../trace/refs/service.ts'
import type { Tables } from '../trace/tables/service.ts'
import { MONITOR_CLASS } from './call-scoring/active-monitors.ts'
import { createMonitors } from './call-scoring/monitors.ts'
import { createCallScoring } from './call-scoring/service.ts'
import { createEvaluateModel } from './evaluate-model/service.ts'
import { createRemoteScorers } from './scorers/remote-scorer.ts'
import { createScorerCode, NO_SCORER_CODE } from './scorers/scorer-code.ts'
import type { ScorerPython } from './scorers/scorer-processes.ts'

export interface EvaluationDeps {
  control: ControlDb
  calls: Calls
  feedback: Feedback
  objects: Objects
  tables: Tables
  refs: Refs
  files: Files
  playground: Playground
  jobQueue: JobQueue
  log: Log
  /** Runs scorers that are code; without one they are refused. */
  scorerPython: ScorerPython | undefined
  remoteScorers: RemoteScorerOptions
}

/** Names of ops that are remembered as published: enough for the scorers of many projects. */
const SEEN_MAX = 10_000

/** Wires what evaluates and scores on the server. */
export function createEvaluation(deps: EvaluationDeps) {
  const ops = createPlaceholderOps(deps, { why: 'run by the server, without source code', seenMax: SEEN_MAX })
  const { scorerPython: python } = deps
  const scorerCode = python === undefined ? NO_SCORER_CODE : createScorerCode({ ...deps, python })
  const outbound = createOutbound({ allowedHosts: deps.remoteScorers.hosts })
  const remoteScorers = createRemoteScorers({ outbound, secrets: deps.remoteScorers.secrets })
  const shared = { ...deps, ops, scorerCode, remoteScorers }
  const evaluateModel = createEvaluateModel(shared)
  const callScoring = createCallScoring(shared)
  deps.objects.reviewWith(async (published, context) =>
    published.base_object_class === MONITOR_CLASS ? callScoring.monitorWarnings(published, context) : [],
  )
  const monitors = createMonitors({ ...deps, scoringTasks: callScoring.tasks })
  return {
    evaluateModel,
    callScoring,

    /** Begins to note calls for monitors; disposal ends what runs code of scorers. */
    async startEvaluation(): Promise<AsyncDisposable> {
      await using starting = new AsyncDisposableStack()
      starting.use(scorerCode)
      starting.use(outbound)
      await monitors.start()
      return starting.move()
    },
  }
}
