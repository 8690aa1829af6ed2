import { conflict, invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { nowIso } from '../../time.ts'
import { loraOf } from '../base-models/lora-wire.ts'
import { BEST_METRIC_DEFAULT } from '../checkpoints/best-step-wire.ts'
import type { ModelName, ModelRow } from '../model-registry/model-row.ts'
import type { ModelsDeps } from './deps.ts'
import type { ModelCreateReq } from './wire.ts'

/** Registering waits this long for an engine that is starting: clients wait 600 s, and do not retry a POST. */
const REGISTER_MS_MAX = 300_000

/** Registers a model, which begins with a step 0 that behaves like its base model. */
export type Register = (req: ModelCreateReq, context: CallContext) => Promise<ModelRow>

export function createModelRegistration(deps: ModelsDeps): Register {
  const { control, projects, registry, baseModels, checkpoints } = deps

  async function insert(req: ModelCreateReq, name: ModelName, context: CallContext): Promise<ModelRow> {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(REGISTER_MS_MAX)])
    const lora = loraOf(req.lora ?? {})
    if (lora.rank > baseModels.loraRankMax) {
      throw invalidRequest(
        `lora.rank is at most ${baseModels.loraRankMax} here; HEDDLE_LORA_RANK_MAX raises it`,
        'lora',
      )
    }
    await baseModels.assertThere(req.base_model, signal)
    const first = await baseModels.initialAdapter(req.base_model, lora, signal)
    await projects.ensure({ entity: name.entity, name: name.project })
    const row: ModelRow = {
      id: newId(),
      ...name,
      base_model: req.base_model,
      // Wire: clients open their metrics run under the model's name; another id here would split it in two.
      run_id: name.name,
      lora: JSON.stringify(lora),
      best_metric: req.best_metric ?? BEST_METRIC_DEFAULT,
      best_mode: req.best_mode ?? 'max',
      last_step: 0,
      created_by: context.caller.user,
      created_at: nowIso(),
    }
    return control.transaction().execute(async (tx) => {
      const added = await registry.insertIn(tx, row)
      if (added === undefined) return (await registry.findIn(tx, name)) ?? row
      await checkpoints.insertFirst(tx, added, first)
      return added
    })
  }

  return async (req: ModelCreateReq, context: CallContext): Promise<ModelRow> => {
    baseModels.assertAvailable()
    const entity = req.entity ?? context.caller.defaultEntity
    const name = { entity, project: req.project, name: req.name }
    const found = await registry.find(name)
    const taken = `Model ${entity}/${req.project}/${req.name} already exists`
    if (found !== undefined && req.return_existing !== true) throw conflict(taken)
    const row = found ?? (await insert(req, name, context))
    if (row.base_model !== req.base_model) throw conflict(`${taken} with base model ${row.base_model}`)
    if (req.lora != null && JSON.stringify(loraOf(req.lora)) !== row.lora) {
      throw conflict(`${taken} with adapters of another shape: ${row.lora}`)
    }
    return row
  }
}
