import type { GraphqlPart } from '../accounts/graphql/part.ts'
import type { Projects } from '../accounts/projects.ts'
import type { Contents } from '../contents/service.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import { artifactsPart } from '../tracking/artifacts/artifacts-part.ts'
import { artifactsRoutes } from '../tracking/artifacts/routes.ts'
import { type Artifacts, createArtifacts } from '../tracking/artifacts/service.ts'
import { filesPart } from '../tracking/files-part.ts'
import { runsRoutes } from '../tracking/runs/routes.ts'
import { runsPart } from '../tracking/runs/runs-part.ts'
import { createRuns, type Runs } from '../tracking/runs/service.ts'
import { sdkRoutes } from '../tracking/sdk/routes.ts'
import { createSdk } from '../tracking/sdk/service.ts'
import { createSignedUrls } from '../tracking/signed-urls.ts'
import type { Area } from './area.ts'

export interface TrackingDeps {
  control: ControlDb
  traces: TraceDb
  contents: Contents
  projects: Projects
}

/** Runs, metrics and artifacts of W&B clients. */
export interface TrackingArea extends Area {
  artifacts: Artifacts
  runs: Runs
  /** Its fields of the W&B API. */
  graphqlParts: GraphqlPart[]
}

export function createTrackingArea({ control, traces, contents, projects }: TrackingDeps): TrackingArea {
  const signedUrls = createSignedUrls({ control })
  const artifacts = createArtifacts({ control, contents, projects, signedUrls })
  const runs = createRuns({ control, traces, contents, projects, signedUrls })
  return {
    artifacts,
    runs,
    graphqlParts: [filesPart, runsPart(runs), artifactsPart(artifacts, runs)],
    routes: [...runsRoutes(runs), ...artifactsRoutes(artifacts), ...sdkRoutes(createSdk())],

    /** Removes uploads that were abandoned before this start. */
    async start() {
      await artifacts.cleanUp()
      return new AsyncDisposableStack()
    },
  }
}
