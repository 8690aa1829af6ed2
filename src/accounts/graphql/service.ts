import {
  buildSchema,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  graphql,
  isObjectType,
  specifiedRules,
} from 'graphql'
import { ClientError } from '../../errors.ts'
import type { Access, Allowed, Authorize } from '../../http/access.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import { isRecord } from '../../json/is-record.ts'
import { withAbsentFeature } from './absent-features.ts'
import { countFields, type DocumentContext, reading } from './bounded-fields.ts'
import { boundSize } from './document-size.ts'
import { createDocumentWork } from './document-work.ts'
import type { Arguments, GraphqlModule, Resolver } from './graphql-module.ts'
import { guardRecords } from './record-guard.ts'
import { RECORD_TYPES } from './record-types.ts'
import type { GraphqlReq, GraphqlRes } from './wire.ts'

const RULES = [...specifiedRules, boundSize]

/** Tokens of one document: the longest that clients send has some hundreds; the parser is recursive. */
const TOKENS_MAX = 2_000

/**
 * Answers GraphQL requests with the fields of all modules. A document that would make the server read or answer too
 * much has an error instead.
 * @throws Error for a resolver of a field that is not declared, or of a type that does not say whose its nodes are.
 */
export interface Graphql {
  run(req: GraphqlReq, context: CallContext): Promise<GraphqlRes>
}

export function createGraphql(modules: readonly GraphqlModule[], authorize: Authorize): Graphql {
  const schema = buildSchema(
    ['type Query', 'type Mutation', ...modules.map((module) => module.types)].join('\n'),
  )
  for (const module of modules) attach(schema, module, authorize)
  guardRecords(schema)
  countFields(schema)
  const workOf = createDocumentWork()

  async function run(req: GraphqlReq, context: CallContext): Promise<GraphqlRes> {
    const work = workOf(context)
    const { data, errors } = await graphql({
      schema,
      source: req.query,
      contextValue: { ...context, work } satisfies DocumentContext,
      abortSignal: work.signal,
      variableValues: req.variables ?? null,
      // Wire: clients with only one operation in a document send an empty name.
      operationName: req.operationName || null,
      maxTokens: TOKENS_MAX,
      rules: RULES,
    }).catch((error: unknown) => {
      const refusal = work.refusal()
      if (refusal === undefined) throw error
      return { data: null, errors: [new GraphQLError(refusal.message, { originalError: refusal })] }
    })
    return {
      ...(data !== undefined && { data: data === null ? null : { ...data } }),
      ...(errors && { errors: withAbsentFeature(errors).map(shownError) }),
    }
  }

  return { run }
}

/** Types whose fields are where a document begins. */
const ROOTS = ['Query', 'Mutation']

function attach(schema: GraphQLSchema, module: GraphqlModule, authorize: Authorize): void {
  for (const [typeName, fields] of Object.entries(module.resolvers)) {
    const type = schema.getType(typeName)
    for (const [fieldName, resolve] of Object.entries(fields)) {
      const field = isObjectType(type) ? type.getFields()[fieldName] : undefined
      if (field === undefined) throw new Error(`GraphQL has no field ${typeName}.${fieldName}`)
      if (!ROOTS.includes(typeName) && RECORD_TYPES[typeName] === undefined)
        throw new Error(`GraphQL does not say whose a ${typeName} is: add it to RECORD_TYPES`)
      // GraphQL calls with what the type declares; the module declares both type and resolver.
      const guarded = ROOTS.includes(typeName)
        ? guard(resolve, accessOf(module, typeName, fieldName), authorize)
        : resolve
      field.resolve = reading(guarded as unknown as GraphQLFieldResolver<unknown, DocumentContext>)
    }
  }
}

interface Guard {
  access: Access<Arguments>
  /** What a query may not see is null, as what does not exist; a mutation of it is refused. */
  isQuery: boolean
}

/** @throws Error for a field that says nothing about who may ask for it. */
function accessOf({ access }: GraphqlModule, typeName: string, fieldName: string): Guard {
  const declared = access[fieldName]
  if (declared === undefined) throw new Error(`GraphQL does not say who may ask for ${typeName}.${fieldName}`)
  return { access: declared, isQuery: typeName === 'Query' }
}

/**
 * A resolver that answers only callers with a right to what its arguments name, and counts the request for whose it is.
 */
function guard(resolve: Resolver, { access, isQuery }: Guard, authorize: Authorize): Resolver {
  return async (source: never, given: never, context: CallContext) => {
    const args = inCallersEntity(given, context.caller)
    const { input, ...rest }: { input?: object } & Record<string, unknown> = args
    let places: readonly Allowed[]
    try {
      places = await authorize(access, { ...rest, ...input }, context.caller)
    } catch (error) {
      if (isQuery && error instanceof ClientError) return null
      throw error
    }
    for (const { entity } of places) context.limits?.forEntity(entity, context.bodyBytes)
    return resolve(source, args, context)
  }
}

/**
 * Wire: a client that has not asked whose its key is sends an empty name for the caller's own entity, as `wandb sync`
 * does.
 */
function inCallersEntity<Given extends Arguments>(given: Given, caller: Caller): Given {
  const args = given['entityName'] === '' ? { ...given, entityName: caller.defaultEntity } : given
  const input = args['input']
  return isRecord(input) ? { ...args, input: inCallersEntity(input, caller) } : args
}

/** Clients wait and try again. */
const TOO_MANY_REQUESTS = 429

/**
 * Wire: what the caller did wrong is an error in a 200, which clients do not retry.
 * @throws what a resolver threw for any other reason, so that it becomes a status that clients do retry.
 */
function shownError(error: GraphQLError): { message: string } & Record<string, unknown> {
  const cause = error.originalError
  const callersFault =
    cause instanceof GraphQLError ||
    (cause instanceof ClientError && cause.status < 500 && cause.status !== TOO_MANY_REQUESTS)
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
