import { pythonIn } from '../../scripts/python-environments.ts'
import { S3_CREDENTIALS } from '../cluster/seaweedfs.ts'
import { ENGINE, startRay } from './ray-cluster.ts'
import { TEST_RAY, type TestRay } from './test-ray.ts'

/**
 * Processes that fit on the node: a trainer and an inference server of each of three servers, and some of a test's own
 * models.
 */
const PROCESSES = 20

/** Starts a Ray cluster for the servers of all tests of a run, and ends it after it. */
export default async function startCluster(): Promise<() => Promise<void>> {
  // Nodes have credentials of their own, which they inherit here.
  Object.assign(process.env, S3_CREDENTIALS)
  await using starting = new AsyncDisposableStack()
  const cluster = starting.use(await startRay())
  const { pid } = await cluster.addNode()
  const needs = JSON.stringify({ cpus: 1 / PROCESSES, gpus: 0, resources: { [ENGINE]: 1 / PROCESSES } })
  const ray: TestRay = {
    pid,
    env: {
      HEDDLE_RAY_URL: cluster.url,
      HEDDLE_RAY_PYTHON: pythonIn('engine'),
      HEDDLE_RAY_TRAINER: needs,
      HEDDLE_RAY_SERVER: needs,
      HEDDLE_WORKSPACE: 's3',
    },
  }
  // Inherited by the processes that run tests.
  process.env[TEST_RAY] = JSON.stringify(ray)
  const started = starting.move()
  return () => started.disposeAsync()
}
