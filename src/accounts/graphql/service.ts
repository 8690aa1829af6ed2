import {
  buildSchema,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  graphql,
  isObjectType,
} from 'graphql'
import { ClientError } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { GraphqlModule } from './graphql-module.ts'
import type { GraphqlReq, GraphqlRes } from './wire.ts'

/** Tokens of one document: the longest that clients send has some hundreds; the parser is recursive. */
const TOKENS_MAX = 2_000

/** Answers GraphQL requests with the fields of all modules. @throws Error for a resolver of a field that is not declared. */
export interface Graphql {
  run(req: GraphqlReq, context: CallContext): Promise<GraphqlRes>
}

export function createGraphql(modules: readonly GraphqlModule[]): Graphql {
  const schema = buildSchema(
    ['type Query', 'type Mutation', ...modules.map((module) => module.types)].join('\n'),
  )
  for (const module of modules) attach(schema, module)

  async function run(req: GraphqlReq, context: CallContext): Promise<GraphqlRes> {
    const { data, errors } = await graphql({
      schema,
      source: req.query,
      contextValue: context,
      variableValues: req.variables ?? null,
      // Wire: clients with only one operation in a document send an empty name.
      operationName: req.operationName || null,
      maxTokens: TOKENS_MAX,
    })
    return {
      ...(data !== undefined && { data: data === null ? null : { ...data } }),
      ...(errors && { errors: errors.map(shownError) }),
    }
  }

  return { run }
}

function attach(schema: GraphQLSchema, module: GraphqlModule): void {
  for (const [typeName, fields] of Object.entries(module.resolvers)) {
    const type = schema.getType(typeName)
    for (const [fieldName, resolve] of Object.entries(fields)) {
      const field = isObjectType(type) ? type.getFields()[fieldName] : undefined
      if (field === undefined) throw new Error(`GraphQL has no field ${typeName}.${fieldName}`)
      // GraphQL calls with what the type declares; the module declares both type and resolver.
      field.resolve = resolve as unknown as GraphQLFieldResolver<unknown, CallContext>
    }
  }
}

/**
 * Wire: what the caller did wrong is an error in a 200, which clients do not retry.
 * @throws what a resolver threw for any other reason, so that it becomes a status that clients do retry.
 */
function shownError(error: GraphQLError): { message: string } & Record<string, unknown> {
  const cause = error.originalError
  const callersFault = cause instanceof GraphQLError || (cause instanceof ClientError && cause.status < 500)
  if (cause !== undefined && !callersFault) throw cause
  const code = cause instanceof ClientError && cause.status === 403 ? 'PERMISSION_ERROR' : undefined
  const { message, locations, path, extensions } = error.toJSON()
  return {
    message,
    ...(locations && { locations }),
    ...(path && { path }),
    ...((code ?? extensions) && { extensions: { ...extensions, ...(code && { code }) } }),
  }
}
