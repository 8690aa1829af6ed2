import { kill } from 'node:process'
import { it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { S3_CREDENTIALS } from '../cluster/seaweedfs.ts'
import { NO_ENGINE, startInstallation, type Victim } from '../faults/installation.ts'
import { ROUNDS_BY_HAND, runRounds } from '../faults/rounds.ts'
import { startTrainees } from '../faults/training.ts'
import { startWriters } from '../faults/writes.ts'
import { until } from '../wire/until.ts'
import { ENGINE, type RayNode, startRay } from './ray-cluster.ts'

/** Servers with a trainer and a vLLM of their own: where all tests run only one, which starts sooner. */
const ENGINES = ROUNDS_BY_HAND === undefined ? 1 : 2
const SERVERS = 2

/** All their processes fit on a node. */
const NEEDS = JSON.stringify({ cpus: 0.25, gpus: 0, resources: { [ENGINE]: 0.25 } })

/** vLLM takes half a minute to start, and on a busy machine some times as long. */
const RECOVERY_MS_MAX = 300_000

it('no write, job or checkpoint is lost or doubled while a worker of Ray, a vLLM or any other part fails', async () => {
  // Nodes have credentials of their own, which they inherit here.
  Object.assign(process.env, S3_CREDENTIALS)
  await using ray = await startRay()
  let node = await ray.addNode()
  const withEngine = {
    HEDDLE_RAY_URL: ray.url,
    HEDDLE_RAY_PYTHON: pythonIn('engine'),
    HEDDLE_RAY_TRAINER: NEEDS,
    HEDDLE_RAY_SERVER: NEEDS,
    HEDDLE_WORKSPACE: 's3',
  }
  await using installation = await startInstallation(
    Array.from({ length: SERVERS }, (_, index) =>
      index < ENGINES ? withEngine : { ...NO_ENGINE, HEDDLE_ROLE: 'api' },
    ),
  )
  const stopping = new AbortController()
  const trainees = await startTrainees(installation.url, stopping.signal)
  const writers = startWriters(installation.url, stopping.signal)
  const workers = [
    processOf('a trainer', 'engine.main', () => node),
    processOf('a vLLM', 'engine.inference.api_server', () => node),
  ]
  const both: Victim = {
    name: 'a trainer and a vLLM',
    async kill() {
      for (const worker of workers) await worker.kill()
    },
    start: async () => undefined,
  }
  const wholeNode: Victim = {
    name: 'a node of Ray',
    kill: () => node.kill(),
    start: async () => {
      node = await ray.addNode()
    },
  }
  await runRounds({
    count: 1,
    victims: [...installation.victims, ...workers, wholeNode],
    first: [both],
    works: [...writers.works, ...trainees.works],
    recoveryMsMax: RECOVERY_MS_MAX,
  })
  stopping.abort()
  await Promise.all([writers.stopped, trainees.stopped])
  await writers.check()
  await trainees.check()
})

/** A process of an engine, which its server starts again. */
function processOf(name: string, word: string, node: () => RayNode): Victim {
  return {
    name,
    async kill() {
      kill(await until(() => node().processes(word)[0]), 'SIGKILL')
    },
    start: async () => undefined,
  }
}
