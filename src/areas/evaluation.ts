import type { Principals } from '../accounts/callers/principals.ts'
import type { WorkLimits } from '../accounts/limits/work-limits.ts'
import type { Projects } from '../accounts/projects.ts'
import { createMonitors } from '../evaluation/call-scoring/monitors.ts'
import { createMonitorsOfProjects } from '../evaluation/call-scoring/monitors-of-projects.ts'
import { createMonitorsRemoval } from '../evaluation/call-scoring/removal.ts'
import { callScoringRoutes } from '../evaluation/call-scoring/routes.ts'
import { createCallScoring } from '../evaluation/call-scoring/service.ts'
import { evalResultsRoutes } from '../evaluation/eval-results/routes.ts'
import { createEvalResults } from '../evaluation/eval-results/service.ts'
import { evaluateModelRoutes } from '../evaluation/evaluate-model/routes.ts'
import { createEvaluateModel } from '../evaluation/evaluate-model/service.ts'
import { evaluationRunsRoutes } from '../evaluation/evaluation-runs/routes.ts'
import { createEvaluationRuns } from '../evaluation/evaluation-runs/service.ts'
import { createRemoteScorers } from '../evaluation/scorers/remote-scorer.ts'
import { createScorerCode, NO_SCORER_CODE } from '../evaluation/scorers/scorer-code.ts'
import type { ScorerPython } from '../evaluation/scorers/scorer-processes.ts'
import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import { createOutbound } from '../outbound-http.ts'
import type { RemoteScorerOptions } from '../settings/scorer-secrets.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import { MONITOR_CLASS } from '../trace/objects/object-class.ts'
import { createPlaceholderOps } from '../trace/objects/placeholder-ops.ts'
import type { Area } from './area.ts'
import type { InferenceArea } from './inference.ts'
import type { TraceArea } from './trace.ts'

export interface EvaluationDeps {
  control: ControlDb
  peers: Peers
  traces: TraceDb
  projects: Pick<Projects, 'closed'>
  jobQueue: JobQueue
  workLimits: WorkLimits
  /** What evaluations and scores may do when they run. */
  principals: Principals
  log: Log
  /** Runs scorers that are code; without one they are refused. */
  scorerPython: ScorerPython | undefined
  remoteScorers: RemoteScorerOptions
  trace: Pick<TraceArea, 'calls' | 'costs' | 'feedback' | 'files' | 'objects' | 'refs' | 'tables'>
  inference: Pick<InferenceArea, 'playground'>
}

/** Names of ops that are remembered as published: enough for the scorers of many projects. */
const SEEN_MAX = 10_000

/** Evaluations: logged by clients, compared, and made on the server, which also scores calls. */
export function createEvaluationArea(deps: EvaluationDeps): Area {
  const {
    control,
    peers,
    traces,
    projects,
    jobQueue,
    workLimits,
    principals,
    log,
    scorerPython: python,
    trace,
    inference,
  } = deps
  const ops = createPlaceholderOps(
    { ...trace, peers },
    {
      why: 'run by the server, without source code',
      seenMax: SEEN_MAX,
    },
  )
  const scorerCode = python === undefined ? NO_SCORER_CODE : createScorerCode({ ...trace, python })
  const outbound = createOutbound({ allowedHosts: deps.remoteScorers.hosts, setting: 'HEDDLE_SCORER_HOSTS' })
  const remoteScorers = createRemoteScorers({ outbound, secrets: deps.remoteScorers.secrets })
  const { playground } = inference
  const work = {
    ...trace,
    control,
    peers,
    projects,
    jobQueue,
    principals,
    log,
    playground,
    ops,
    scorerCode,
    remoteScorers,
    monitorsOf: createMonitorsOfProjects({ ...trace, peers }),
  }
  const evaluateModel = createEvaluateModel({ ...work, workLimits })
  const callScoring = createCallScoring(work)
  trace.objects.reviewWith(async (published, context) =>
    published.base_object_class === MONITOR_CLASS ? callScoring.monitorWarnings(published, context) : [],
  )
  const monitors = createMonitors({
    ...work,
    scoringTasks: callScoring.tasks,
    waitingScores: callScoring.waiting,
  })
  return {
    removals: [createMonitorsRemoval({ control })],
    routes: [
      ...evaluationRunsRoutes(createEvaluationRuns({ ...trace, peers })),
      ...evalResultsRoutes(createEvalResults({ ...trace, traces })),
      ...evaluateModelRoutes(evaluateModel),
      ...callScoringRoutes(callScoring),
    ],

    /** Begins to note calls for monitors; disposal ends what runs code of scorers. */
    async start() {
      await using starting = new AsyncDisposableStack()
      starting.use(scorerCode)
      starting.use(outbound)
      await monitors.start()
      return starting.move()
    },
  }
}
