import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { REPOSITORY_FOLDER } from './compute-settings.ts'
import { ownModelsFolder } from './find-base-model.ts'

/**
 * What an engine on this machine loads: the folder of a base model, or else its id on Hugging Face.
 * @param baseModel one that ships with this repository, a local folder, or such an id
 */
export function locationOf(baseModel: string): string {
  const folder = baseModelFolder(baseModel)
  return existsSync(folder) ? folder : baseModel
}

/** Where a base model is if it is a folder; a relative one is below the checkout, wherever the program was started. */
export function baseModelFolder(baseModel: string): string {
  return baseModel.startsWith('heddle/')
    ? join(ownModelsFolder(REPOSITORY_FOLDER), basename(baseModel))
    : resolve(REPOSITORY_FOLDER, baseModel)
}
