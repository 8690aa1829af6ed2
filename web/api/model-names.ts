import type { Model } from './training.ts'

/** The name under which a step of a model answers. */
export function stepName(
  { entity, project, name }: Pick<Model, 'entity' | 'project' | 'name'>,
  step: number,
): string {
  return `${entity}/${project}/${name}:step${step}`
}
