import { invalidRequest } from '../../errors.ts'
import type { Projects } from '../projects.ts'
import type { GraphqlPart } from './part.ts'

/** Who am I, does a project exist, make it: what clients ask before anything else. */
export function projectsPart(projects: Projects): GraphqlPart {
  return {
    types: TYPES,
    rootFields: ({ caller }) => ({
      viewer: () => ({ username: caller.user, defaultEntity: { name: caller.defaultEntity } }),

      async project({ name, entityName }: ProjectArguments) {
        const entity = entityName ?? caller.defaultEntity
        return (await projects.exists({ entity, name })) ? { name, entityName: entity } : null
      },

      /** Wire: a model is a project. Descriptions are not kept, so none is returned. */
      async upsertModel({ input }: UpsertArguments) {
        const entity = input.entityName ?? caller.defaultEntity
        if (!input.name) throw invalidRequest('A project needs a name')
        await projects.ensureById(`${entity}/${input.name}`)
        return { model: { name: input.name, entityName: entity } }
      },
    }),
  }
}

interface ProjectArguments {
  name: string
  entityName?: string | null
}

interface UpsertArguments {
  input: { name?: string | null; entityName?: string | null }
}

const TYPES = `
  extend type Query {
    viewer: User
    project(name: String!, entityName: String): Project
  }

  extend type Mutation {
    upsertModel(input: UpsertModelInput!): UpsertModelPayload
  }

  type User {
    username: String!
    defaultEntity: Entity
  }

  type Entity {
    name: String!
  }

  type Project {
    name: String!
    entityName: String!
    description: String
  }

  input UpsertModelInput {
    id: String
    name: String
    entityName: String
    description: String
    repo: String
  }

  type UpsertModelPayload {
    model: Project
  }
`
