import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql'
import type { CallContext } from '../../http/caller.ts'
import type { DocumentWork } from './document-work.ts'

/** What resolvers get: the request, and what its document has done so far. */
export interface DocumentContext extends CallContext {
  work: DocumentWork
}

type FieldResolver = GraphQLFieldResolver<unknown, DocumentContext>

/** A resolver that is counted as a read, and waits for its turn. */
export function reading(resolve: FieldResolver): FieldResolver {
  return async (node, args, context, info) => {
    const answer = await context.work.read(info.path, async () => resolve(node, args, context, info))
    context.work.found(answer)
    return answer
  }
}

/** Has every field counted, also those that are properties of their objects: a reply may have any number of them. */
export function countFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    // The types of introspection are those of the library, for all schemas.
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const resolve: FieldResolver = field.resolve ?? defaultFieldResolver
      field.resolve = isLeafType(getNamedType(field.type)) ? counted(resolve) : inTurn(resolve)
    }
  }
}

function counted(resolve: FieldResolver): FieldResolver {
  return (node, args, context, info) => {
    context.work.field()
    const answer: unknown = resolve(node, args, context, info)
    return answer instanceof Promise
      ? answer.then((value: unknown) => weighed(value, context))
      : weighed(answer, context)
  }
}

function weighed(value: unknown, { work }: DocumentContext): unknown {
  work.answered(charsOf(value))
  return value
}

/** Characters that a value takes in a reply, about. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return OTHER_CHARS
  let sum = 0
  if (Array.isArray(value)) for (const item of value) sum += charsOf(item)
  else for (const [name, item] of Object.entries(value)) sum += name.length + charsOf(item)
  return sum
}

/** Of a number or a truth value. */
const OTHER_CHARS = 8

function inTurn(resolve: FieldResolver): FieldResolver {
  return (node, args, context, info) => {
    context.work.field()
    const turn = context.work.turnOfObject()
    return turn === undefined
      ? resolve(node, args, context, info)
      : turn.then(() => resolve(node, args, context, info))
  }
}
