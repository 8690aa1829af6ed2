import { z } from 'zod'
import type { S3Options } from '../stores/blobs/s3-address.ts'
import { REGION_OF_ANY } from '../stores/blobs/s3-region.ts'
import { type WorkspaceBucket, workspaceUrl } from '../stores/workspace/bucket-address.ts'
import { variableSettings } from './read-setting.ts'
import { settingProblem } from './setting-problems.ts'

export interface WorkspaceSetting {
  /** Undefined where the workspace is a folder. */
  workspaceBucket: WorkspaceBucket | undefined
}

const Variables = z.object({
  HEDDLE_WORKSPACE: z.enum(['folder', 's3'], { error: 'folder or s3' }).default('folder'),
})

/** What other child processes than engines do not get. */
const CREDENTIALS = ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']

/**
 * @param s3 the bucket of the files
 * @throws Error that names what is missing or contradicts
 */
export function readWorkspaceSetting(env: NodeJS.ProcessEnv, s3: S3Options | undefined): WorkspaceSetting {
  const { HEDDLE_WORKSPACE: kind } = variableSettings(Variables, env)
  if (kind === 'folder') {
    assertReached(env)
    return { workspaceBucket: undefined }
  }
  if (s3 === undefined) throw settingProblem('HEDDLE_WORKSPACE', 's3 needs HEDDLE_S3_URL')
  return { workspaceBucket: { url: workspaceUrl(s3), environment: environmentOf(env, s3) } }
}

/** Servers that share a vLLM have no folder in common unless one is named. */
function assertReached(env: NodeJS.ProcessEnv): void {
  const isElsewhere = env['HEDDLE_VLLM_URL'] !== undefined || env['HEDDLE_VLLM_URLS'] !== undefined
  if (env['HEDDLE_SERVERS'] !== 'several' || !isElsewhere || env['HEDDLE_ENGINE_FOLDER'] !== undefined) return
  throw settingProblem(
    'HEDDLE_WORKSPACE',
    'with HEDDLE_SERVERS=several, a vLLM elsewhere gets adapters through the bucket (s3), or through a HEDDLE_ENGINE_FOLDER of this server that it sees under the same path',
  )
}

/** The engine's library reads these names, and no profiles of files. */
function environmentOf(env: NodeJS.ProcessEnv, { endpoint, region }: S3Options): NodeJS.ProcessEnv {
  const authorities = env['AWS_CA_BUNDLE'] ?? env['NODE_EXTRA_CA_CERTS']
  const known = region ?? (endpoint === undefined ? undefined : REGION_OF_ANY)
  return {
    ...Object.fromEntries(CREDENTIALS.map((name) => [name, env[name]])),
    ...(endpoint !== undefined && { AWS_ENDPOINT_URL_S3: endpoint }),
    ...(authorities !== undefined && { AWS_CA_BUNDLE: authorities }),
    ...(known !== undefined && { AWS_REGION: known }),
  }
}
