import { ReadableStream } from 'node:stream/web'
import { notFound } from '../errors.ts'
import type { CallContext } from '../http/caller.ts'
import type { Jobs } from '../training/jobs/service.ts'
import type { ModelRegistry } from '../training/model-registry/service.ts'
import type { Models } from '../training/models/service.ts'
import type { Group } from './groups.ts'
import type { RlTraining, SftTraining } from './wire.ts'

export interface TrainingDeps {
  registry: Pick<ModelRegistry, 'byId' | 'find'>
  models: Pick<Models, 'create'>
  jobs: Pick<Jobs, 'createSft' | 'createOfCalls'>
}

type AnyTraining = RlTraining | SftTraining

/** What is trained on. */
export interface TrainedOn {
  datasetRef: string
  /** Undefined for SFT. */
  groups: readonly Group[] | undefined
}

/** Submits the collected rows as a training job. */
export interface TrainingStart {
  /** @throws 404 for a model that does not exist and is not to be registered. */
  check(projectId: string, training: AnyTraining): Promise<void>
  /** The id of the model, which is registered on request. @throws 404, 409 and 503. */
  register(projectId: string, training: AnyTraining, context: CallContext): Promise<string>
  /** Returns the id of the job. @throws 503 and any refusal of the job, after which nothing of it is kept. */
  submit(model_id: string, training: AnyTraining, data: TrainedOn, context: CallContext): Promise<string>
}

export function createTraining({ registry, models, jobs }: TrainingDeps): TrainingStart {
  async function find(projectId: string, model: string): Promise<string | undefined> {
    const [entity = '', project = ''] = projectId.split('/')
    const found = (await registry.find({ entity, project, name: model })) ?? (await registry.byId(model))
    return found?.entity === entity && found.project === project ? found.id : undefined
  }

  async function register(
    projectId: string,
    { model: name, base_model }: AnyTraining,
    context: CallContext,
  ): Promise<string> {
    const [entity = '', project = ''] = projectId.split('/')
    const known = await find(projectId, name)
    if (known !== undefined && base_model == null) return known
    if (base_model == null) throw unknownModel(name)
    return (await models.create({ entity, project, name, base_model, return_existing: true }, context)).id
  }

  async function check(projectId: string, { model, base_model }: AnyTraining): Promise<void> {
    if (base_model == null && (await find(projectId, model)) === undefined) throw unknownModel(model)
  }

  async function submit(
    model_id: string,
    { config }: AnyTraining,
    { datasetRef, groups }: TrainedOn,
    context: CallContext,
  ): Promise<string> {
    if (groups === undefined) {
      const req = { model_id, training_data_url: datasetRef, config: config as SftTraining['config'] }
      return (await jobs.createSft(req, context)).id
    }
    const stream = ReadableStream.from(bodyOf({ model_id, experimental_config: config ?? null }, groups))
    return (await jobs.createOfCalls({ stream, dataset_ref: datasetRef }, context)).id
  }

  return { check, register, submit }
}

/** The body of an RL job, a group at a time. */
function* bodyOf(head: object, groups: readonly Group[]): Generator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"trajectory_groups":[`)
  for (const [index, { text }] of groups.entries()) yield Buffer.from(index === 0 ? text : `,${text}`)
  yield Buffer.from(']}')
}

function unknownModel(model: string): Error {
  return notFound('model', `${model.slice(0, 128)} of the project (base_model registers it)`, {
    param: 'into',
  })
}
