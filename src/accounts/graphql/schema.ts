import { buildSchema } from 'graphql'

/** The part of the W&B API that clients ask for: who am I, does a project exist, make it. */
export const SCHEMA = buildSchema(`
  type Query {
    viewer: User
    project(name: String!, entityName: String): Project
  }

  type Mutation {
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
`)
