import type { BaseModels } from '../../training/base-models/service.ts'
import { createTurns, type EngineLoad, type Turns } from './turns.ts'

/** Batches of answers that an engine has at a time: one is computed while the next one waits. */
const BATCHES_MAX = 2

/** The slots of the engine of each base model. */
export interface EngineTurns {
  answersMaxOf(baseModel: string): number
  of(baseModel: string): Turns
  loads(): Map<string, EngineLoad>
}

export function createEngineTurns(baseModels: Pick<BaseModels, 'inference'>): EngineTurns {
  const turnsOfEngines = new Map<string, Turns>()

  const answersMaxOf = (baseModel: string): number =>
    BATCHES_MAX * baseModels.inference(baseModel).requestsMax

  function of(baseModel: string): Turns {
    const turns = turnsOfEngines.get(baseModel) ?? createTurns(answersMaxOf(baseModel))
    turnsOfEngines.set(baseModel, turns)
    return turns
  }

  return {
    answersMaxOf,
    of,
    loads: () => new Map([...turnsOfEngines].map(([baseModel, turns]) => [baseModel, turns.load()])),
  }
}
