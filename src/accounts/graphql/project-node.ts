import { createHash } from 'node:crypto'
import type { ProjectName } from '../project-name.ts'
import { globalId } from './global-id.ts'

/** A project as GraphQL passes it from field to field. */
export interface ProjectNode {
  name: string
  entityName: string
}

/** An entity, likewise; whether it is a team depends on who asks. */
export interface EntityNode {
  name: string
}

export function projectNode({ entity, name }: ProjectName) {
  return {
    id: globalId('Project', `${entity}/${name}`),
    // Wire: clients read it as an integer, and give it back as one of 32 bits.
    internalId: String(createHash('sha256').update(`${entity}/${name}`).digest().readUInt32BE() >>> 1),
    name,
    entityName: entity,
    entity: entityNode(entity),
    readOnly: false,
    isBenchmark: false,
    access: 'PRIVATE',
  }
}

export function entityNode(name: string) {
  return { id: globalId('Entity', name), name }
}
