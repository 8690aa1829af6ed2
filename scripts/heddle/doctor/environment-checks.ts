/** Checks of what is installed. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../src/config.ts'
import { messageOf } from '../../../src/errors.ts'
import { ownerOfBlobs } from '../../../src/open-blobs.ts'
import { shellWord } from '../../../src/shell-word.ts'
import { checkS3, checkS3Owner } from '../../../src/stores/blobs/s3.ts'
import { baseModelFolder } from '../../../src/stores/compute/base-model-location.ts'
import { createBaseModelFinder, ownModelsFolder } from '../../../src/stores/compute/find-base-model.ts'
import type { RaySetting } from '../../../src/stores/compute/ray/jobs-api.ts'
import { createRayJobs } from '../../../src/stores/compute/ray/jobs-api.ts'
import { checkPostgres } from '../../../src/stores/control-db/postgres.ts'
import type { RedisOptions } from '../../../src/stores/redis/address.ts'
import { checkRedis } from '../../../src/stores/redis/connection.ts'
import { findSecretKey } from '../../../src/stores/secret-key.ts'
import { lookElsewhere } from '../../../src/stores/trace-db/elsewhere/elsewhere.ts'
import { openEmbedded } from '../../../src/stores/trace-db/embedded/embedded.ts'
import { pingTraceDb } from '../../../src/stores/trace-db/port.ts'
import { environmentFolder, findPython, isReady } from '../../python-environments.ts'
import { ROOT } from '../../repository.ts'
import { outdatedWeb } from '../../web-build.ts'
import { type Check, type Finding, failed, ok, warning } from './check.ts'

/** A machine that is busy takes seconds to start Python. */
const PYTHON_MS_MAX = 30_000

/** A dashboard answers within a second. */
const RAY_MS_MAX = 10_000

/** Whether the engine's packages are there; importing them would take half a minute. */
const FIND_PACKAGES = `import importlib.util, sys
missing = [name for name in ("torch", "peft", "vllm") if importlib.util.find_spec(name) is None]
print(sys.version.split()[0], *missing)`

const SILENT = { error: () => undefined, warn: () => undefined }

export function environmentChecks(config: Config): Check[] {
  const { redis } = config
  return [
    { name: 'Node', run: () => ok(`${process.version}, ${process.execPath}`) },
    { name: 'Python', run: python },
    { name: 'engine', run: () => engine(config) },
    { name: 'web UI', run: web },
    { name: 'ClickHouse', run: () => clickHouse(config) },
    { name: 'control database', run: () => controlDatabase(config) },
    ...(redis === undefined ? [] : [{ name: 'Redis', run: () => redisServer(redis) }]),
    { name: 'file store', run: () => fileStore(config) },
    { name: 'base model', run: () => baseModel(config) },
  ]
}

function python(): Finding {
  try {
    return ok(findPython())
  } catch (error) {
    return warning(messageOf(error), 'apt install python3 python3-venv')
  }
}

async function engine({ ray, engine: { python: configured } }: Config): Promise<Finding> {
  if (ray !== undefined) return rayCluster(ray)
  if (configured === undefined && !isReady('engine'))
    return warning('It is not installed: there is no training and no inference', 'npm run setup engine')
  const path = configured ?? join(environmentFolder('engine'), 'bin/python')
  const run = spawnSync(path, ['-c', FIND_PACKAGES], { encoding: 'utf8', timeout: PYTHON_MS_MAX })
  const fix =
    configured === undefined
      ? `rm -r ${shellWord(environmentFolder('engine'))}; npm run setup engine`
      : 'correct HEDDLE_ENGINE_PYTHON'
  if (run.status !== 0) return failed(`${path} does not run: ${run.error?.message ?? run.stderr.trim()}`, fix)
  const [version, ...missing] = run.stdout.trim().split(' ')
  if (missing.length > 0) return failed(`${path} lacks ${missing.join(', ')}`, fix)
  return ok(`Python ${version}, ${path}`)
}

async function rayCluster({ url, token }: RaySetting): Promise<Finding> {
  await using jobs = createRayJobs(url, token)
  try {
    return ok(`Ray ${await jobs.version(AbortSignal.timeout(RAY_MS_MAX))} at ${url} runs it`)
  } catch (error) {
    return failed(messageOf(error), 'correct HEDDLE_RAY_URL or HEDDLE_RAY_TOKEN, or start the cluster')
  }
}

function web(): Finding {
  return outdatedWeb(ROOT) === undefined
    ? ok('It is built')
    : warning('It is not built, or from other sources; the next start builds it', 'npm run setup web')
}

/** Asks the one that the settings name, or starts one in a folder of its own. */
async function clickHouse({ clickhouse }: Config): Promise<Finding> {
  if (clickhouse !== undefined) {
    try {
      const isThere = await lookElsewhere(clickhouse)
      return ok(isThere ? 'It answers' : 'It answers; the first start makes the database')
    } catch (error) {
      return failed(messageOf(error), 'correct that, or HEDDLE_CLICKHOUSE_URL')
    }
  }
  const folder = await mkdtemp(join(tmpdir(), 'heddle-doctor-'))
  try {
    await using traces = await openEmbedded(folder, SILENT)
    await pingTraceDb(traces)
    return ok('It starts')
  } catch (error) {
    return failed(`It does not start: ${messageOf(error)}`, 'npm run setup packages')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function controlDatabase({ postgres }: Config): Promise<Finding> {
  if (postgres === undefined) return ok('It is in the data folder')
  try {
    await checkPostgres(postgres)
    return ok('PostgreSQL answers, and the database is one that can be used')
  } catch (error) {
    return failed(messageOf(error), 'correct that, or HEDDLE_POSTGRES_URL')
  }
}

async function redisServer(options: RedisOptions): Promise<Finding> {
  try {
    await checkRedis(options)
    return ok('It answers, and its channels can be used')
  } catch (error) {
    return failed(messageOf(error), 'correct that, or HEDDLE_REDIS_URL')
  }
}

async function fileStore({ s3, dataFolder, secretKey }: Config): Promise<Finding> {
  if (s3 === undefined) return ok('Files are in the data folder')
  const key = await findSecretKey(dataFolder, secretKey)
  try {
    await checkS3(s3)
    // Without a key the first start makes one.
    await checkS3Owner(s3, key && ownerOfBlobs(key))
    return ok(`The bucket ${s3.bucket} can be read and written`)
  } catch (error) {
    return failed(messageOf(error), 'correct that, or HEDDLE_S3_URL and HEDDLE_S3_ENDPOINT')
  }
}

async function baseModel({
  engine: { baseModel: id, baseModels },
  ray,
  environment,
}: Config): Promise<Finding> {
  const folder = baseModelFolder(id)
  if (existsSync(folder)) return ok(folder)
  if (/^\.{0,2}\//.test(id))
    return ray === undefined
      ? failed(`The folder ${folder} does not exist`, 'correct HEDDLE_BASE_MODEL')
      : ok(`${id} is a folder of the nodes of Ray`)
  const find = createBaseModelFinder({
    ownModels: ownModelsFolder(ROOT),
    // The one that the settings name counts as there elsewhere; here the hub is asked.
    configured: baseModels,
    environment,
  })
  const found = await find(id, AbortSignal.timeout(PYTHON_MS_MAX))
  return found.isThere
    ? ok(id)
    : failed(`${id}: ${found.reason}`, `set HEDDLE_BASE_MODEL, for example to ${found.known.at(-1)}`)
}
