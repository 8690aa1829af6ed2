import { type Rights, requireRight } from '../../access.ts'
import type { Contents } from '../../contents/service.ts'
import { conflict, invalidRequest, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ByteRange } from '../../stores/blobs/port.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { ArtifactVersion } from '../../tracking/artifacts/versions.ts'
import { ADAPTER_FILES, type ManifestEntry } from '../checkpoint-files/checkpoint-files.ts'
import type { ModelRegistry } from '../model-registry/service.ts'
import { type AdapterFiles, checkAdapter } from './adapter-check.ts'
import type { ModelOfCheckpoints } from './rows.ts'
import type { Checkpoints } from './service.ts'
import type { CheckpointRes, ForkReq } from './wire.ts'

/** A config names layers and a few numbers; it is read whole. */
const CONFIG_BYTES_MAX = 1024 * 1024

export interface ForkingDeps {
  control: ControlDb
  contents: Contents
  models: Pick<ModelRegistry, 'byId' | 'find' | 'findIn'>
  checkpoints: Checkpoints
  loraRankMax: number
}

/** Checkpoints that come from elsewhere: from another model, or from a client that uploaded an adapter. */
export interface Forking {
  /**
   * Copies a checkpoint of another model, with the state to train on, as the step it had there; where this model has
   * had that step, as the next one. @throws 404, 409 for models of different base models or adapter layers.
   */
  fork(
    model: ModelOfCheckpoints & { base_model: string },
    req: ForkReq,
    context: CallContext,
  ): Promise<CheckpointRes>
  /**
   * Wire: clients fork by uploading an adapter as a `lora` artifact named like the model, with the alias `step<N>`;
   * it becomes step N of that model, with the two files of the adapter alone. Other adapters are artifacts only.
   * @throws 400, 409, or 403 for who may not change the model; it refuses the artifact, so that the client gets the
   * error.
   */
  fromArtifact(artifact: ArtifactVersion, rights: Rights, tx: ControlTx): Promise<void>
}

export function createForking({ control, contents, models, checkpoints, loraRankMax }: ForkingDeps): Forking {
  /** @throws 404 for a model that is unknown, or that the caller may not read. */
  async function modelOf(text: string, { caller }: CallContext) {
    const [entity, project, name, ...rest] = text.split('/')
    const isName = entity !== undefined && project !== undefined && name !== undefined && rest.length === 0
    const found = await (isName ? models.find({ entity, project, name }) : models.byId(text))
    if (found === undefined || !caller.rights.allows('read', found))
      throw notFound('model', text, { param: 'from_model' })
    return found
  }

  /** @throws 400 where one of the files is missing. */
  function filesOf(manifest: readonly ManifestEntry[], tx?: ControlTx): AdapterFiles {
    const reading = (name: string) => {
      const file = manifest.find((entry) => entry.name === name)
      if (name === 'adapter_config.json' && (file?.size ?? 0) > CONFIG_BYTES_MAX) {
        throw invalidRequest(`${name} may have ${CONFIG_BYTES_MAX} bytes at most`)
      }
      if (file === undefined) throw lacks(name)
      return async (range?: ByteRange): Promise<Buffer> => {
        const bytes = await contents.read(file.digest, range, tx)
        if (bytes === undefined) throw lacks(name)
        return bytes
      }
    }
    const size = manifest.find((entry) => entry.name === WEIGHTS)?.size ?? 0
    return { config: reading('adapter_config.json'), weights: reading(WEIGHTS), size }
  }

  async function fork(
    model: ModelOfCheckpoints & { base_model: string },
    req: ForkReq,
    context: CallContext,
  ) {
    const source = await modelOf(req.from_model, context)
    if (source.base_model !== model.base_model) {
      throw conflict(`The models have different base models: ${source.base_model} and ${model.base_model}`)
    }
    const from = await checkpoints.find(source, req.checkpoint)
    const newest = await checkpoints.newest(model.id)
    if (from === undefined) throw notFound('checkpoint', req.checkpoint, { param: 'checkpoint' })
    const own = newest && filesOf(newest.manifest)
    await checkAdapter(filesOf(from.manifest), own, { rankMax: loraRankMax })
    const step = await control
      .transaction()
      .execute((tx) => checkpoints.addMade(tx, model, { step: { from: from.step }, manifest: from.manifest }))
    return checkpoints.read(model, String(step))
  }

  async function fromArtifact(artifact: ArtifactVersion, rights: Rights, tx: ControlTx): Promise<void> {
    const { entity, project, name } = artifact
    const model = await models.findIn(tx, { entity, project, name })
    if (model === undefined) return
    // Its newest checkpoint is what the model answers with.
    requireRight(rights, 'write', { entity, project })
    // Hugging Face's trainers put a trainer_state.json of their own beside an adapter. Heddle publishes no more than
    // these.
    const manifest = artifact.files.filter((file) => ADAPTER_FILES.includes(file.name))
    const known = await checkpoints.newest(model.id, tx)
    const given = filesOf(manifest, tx)
    const own = known && filesOf(known.manifest, tx)
    await checkAdapter(given, own, { rankMax: loraRankMax })
    const steps = artifact.aliases.flatMap((alias) => /^step(\d{1,9})$/.exec(alias)?.[1] ?? []).map(Number)
    await checkpoints.addMade(tx, model, {
      step: steps.length === 0 ? {} : { exactly: Math.max(...steps) },
      manifest,
      artifact_id: artifact.id,
    })
  }

  return { fork, fromArtifact }
}

const WEIGHTS = 'adapter_model.safetensors'

function lacks(name: string): Error {
  return invalidRequest(`An adapter has a file ${name}`)
}
