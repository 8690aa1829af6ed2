import { readdirSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { EnvHttpProxyAgent, request } from 'undici'
import { cachedModelFolder, isFolder } from './model-folders.ts'

/** The hub gets this long to answer: a mistyped name is refused within two seconds. */
const HUB_MS_MAX = 1_500

/** Wire: names on the hub, with or without an owner. */
const HUB_ID = /^(?!.*(?:--|\.\.))[A-Za-z0-9_][\w.-]{0,95}(?:\/[A-Za-z0-9_][\w.-]{0,95})?$/

/** The namespace of the models that ship with the server. */
const OWN = 'heddle/'

export interface FindingOptions {
  /** The folder of the models that ship with the server. */
  ownModels: string
  /** Named by the server's settings: ids, folders of this machine, or folders that hold such folders. */
  configured: readonly string[]
  environment: NodeJS.ProcessEnv
  /** For an answer of the hub. */
  hubMsMax?: number
}

/** Whether a base model of a name exists; `reason` says why not. */
export type BaseModelFinding = { isThere: true } | { isThere: false; reason: string; known: string[] }

/**
 * Looks for base models: those that ship with the server, those that its settings name, and those of the hub, in its
 * local cache first. Nothing is loaded, and no other path of this machine is read.
 */
export function createBaseModelFinder({
  ownModels,
  configured,
  environment,
  hubMsMax = HUB_MS_MAX,
}: FindingOptions) {
  const own = readdirSync(ownModels).map((name) => OWN + name)
  const known = [...new Set([...configured, ...own])]
  const hub = (environment['HF_ENDPOINT'] ?? 'https://huggingface.co').replace(/\/+$/, '')
  const isOffline = /^(1|true|yes|on)$/i.test(
    environment['HF_HUB_OFFLINE'] ?? environment['TRANSFORMERS_OFFLINE'] ?? '',
  )

  /** A folder that is named may hold several models. */
  async function isInNamedFolder(id: string): Promise<boolean> {
    return isAbsolute(id) && resolve(id) === id && configured.includes(dirname(id)) && (await isFolder(id))
  }

  async function onHub(id: string, signal: AbortSignal): Promise<string | undefined> {
    const token = environment['HF_TOKEN']
    try {
      const reply = await request(`${hub}/api/models/${id}`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        dispatcher: new EnvHttpProxyAgent(),
        signal: AbortSignal.any([signal, AbortSignal.timeout(hubMsMax)]),
      })
      await reply.body.dump()
      if (reply.statusCode === 200) return undefined
      return reply.statusCode === 401 || reply.statusCode === 404
        ? 'the hub has none of that name, or not for this server'
        : `the hub answered with status ${reply.statusCode}`
    } catch {
      signal.throwIfAborted()
      return 'it is not on this machine, and the hub cannot be reached'
    }
  }

  return async (id: string, signal: AbortSignal): Promise<BaseModelFinding> => {
    const missing = (reason: string): BaseModelFinding => ({ isThere: false, reason, known })
    if (known.includes(id) || (await isInNamedFolder(id))) return { isThere: true }
    if (id.startsWith(OWN)) return missing('this server has none of that name')
    if (!HUB_ID.test(id))
      return missing('it is neither the id of a model nor a folder that HEDDLE_BASE_MODELS names')
    if (await isFolder(await cachedModelFolder(id, environment))) return { isThere: true }
    if (isOffline) return missing('it is not on this machine, and the hub is not to be asked')
    const reason = await onHub(id, signal)
    return reason === undefined ? { isThere: true } : missing(reason)
  }
}

/** The folder of the models that ship with a checkout. */
export function ownModelsFolder(repository: string): string {
  return join(repository, 'engine/models')
}
