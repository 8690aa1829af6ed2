import { graphql } from 'graphql'
import type { CallContext, Caller } from '../../http/caller.ts'
import type { Projects } from '../projects.ts'
import { SCHEMA } from './schema.ts'
import type { GraphqlReq, GraphqlRes } from './wire.ts'

export type Graphql = ReturnType<typeof createGraphql>

interface ProjectArguments {
  name: string
  entityName?: string | null
}

interface UpsertArguments {
  input: { name?: string | null; entityName?: string | null; description?: string | null }
}

/** Answers GraphQL requests. Wire: errors of a request are `errors` in a 200, as GraphQL over HTTP has it. */
export function createGraphql({ projects }: { projects: Projects }) {
  /** One resolver per root field; the library calls them with the field's arguments. */
  function rootFor(caller: Caller) {
    return {
      viewer: () => ({ username: caller.user, defaultEntity: { name: caller.defaultEntity } }),

      async project({ name, entityName }: ProjectArguments) {
        const entity = entityName ?? caller.defaultEntity
        return (await projects.exists({ entity, name })) ? { name, entityName: entity } : null
      },

      async upsertModel({ input }: UpsertArguments) {
        const entity = input.entityName ?? caller.defaultEntity
        const name = input.name ?? 'uncategorized'
        await projects.ensureById(`${entity}/${name}`)
        return { model: { name, entityName: entity, description: input.description ?? null } }
      },
    }
  }

  return {
    async run(req: GraphqlReq, { caller }: CallContext): Promise<GraphqlRes> {
      const result = await graphql({
        schema: SCHEMA,
        source: req.query,
        rootValue: rootFor(caller),
        variableValues: req.variables ?? null,
        operationName: req.operationName ?? null,
      })
      return {
        ...(result.data !== undefined && { data: result.data === null ? null : { ...result.data } }),
        ...(result.errors && { errors: result.errors.map((error) => ({ ...error.toJSON() })) }),
      }
    },
  }
}
