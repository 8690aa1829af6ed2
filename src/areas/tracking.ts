import type { GraphqlModule } from '../accounts/graphql/graphql-module.ts'
import type { Projects } from '../accounts/projects.ts'
import type { Contents } from '../contents/service.ts'
import type { Owners } from '../http/access.ts'
import type { Log } from '../log.ts'
import { abandonedBefore, type Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { SecretKey } from '../stores/secret-key.ts'
import type { Mutations } from '../stores/trace-db/mutations.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import { artifactsModule } from '../tracking/artifacts/artifacts-module.ts'
import { createArtifactsRemoval } from '../tracking/artifacts/removal.ts'
import { artifactsRoutes } from '../tracking/artifacts/routes.ts'
import { type Artifacts, createArtifacts } from '../tracking/artifacts/service.ts'
import { filesModule } from '../tracking/files-module.ts'
import { createRunsRemovals } from '../tracking/runs/removal.ts'
import { runsRoutes } from '../tracking/runs/routes.ts'
import { runsModule } from '../tracking/runs/runs-module.ts'
import { createRuns, type Runs } from '../tracking/runs/service.ts'
import { sdkRoutes } from '../tracking/sdk/routes.ts'
import { createSdk } from '../tracking/sdk/service.ts'
import { createSignedUrls } from '../tracking/signed-urls.ts'
import type { Area } from './area.ts'

export interface TrackingDeps {
  control: ControlDb
  peers: Pick<Peers, 'arePossible'>
  traces: TraceDb
  contents: Contents
  projects: Projects
  /** Signs addresses of files. */
  secretKey: SecretKey
  mutations: Mutations
  log: Log
}

/** Runs, metrics and artifacts of W&B clients. */
export interface TrackingArea extends Area {
  /** Whose its things are that requests name by an id alone. */
  owners: Owners
  artifacts: Artifacts
  runs: Runs
  /** Its fields of the W&B API. */
  graphqlParts: GraphqlModule[]
}

export function createTrackingArea(deps: TrackingDeps): TrackingArea {
  const { control, secretKey, traces, contents, projects, log } = deps
  const signedUrls = createSignedUrls({ secretKey })
  const artifacts = createArtifacts({ control, contents, projects, signedUrls })
  const runs = createRuns({ control, traces, contents, projects, signedUrls, log })
  return {
    artifacts,
    runs,
    storedBy: async (entity) => (await artifacts.storedBy(entity)) + (await runs.storedBy(entity)),
    graphqlParts: [filesModule, runsModule(runs, artifacts.removeOutputs), artifactsModule(artifacts, runs)],
    owners: {
      run: runs.byId,
      'artifact version': artifacts.version,
      'artifact collection': artifacts.collectionById,
    },
    removals: [...createRunsRemovals(deps), createArtifactsRemoval(deps)],
    routes: [...runsRoutes(runs), ...artifactsRoutes(artifacts), ...sdkRoutes(createSdk())],

    /** Removes uploads that were abandoned, and what deletions left that broke off. */
    async start() {
      const before = abandonedBefore(deps.peers)
      await artifacts.cleanUp(before)
      await runs.cleanUp(before)
      return new AsyncDisposableStack()
    },
  }
}
