import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { Rights } from '../../access.ts'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { member, RECORD_TYPES, type RecordType } from './record-types.ts'

/** A node with more open fields than others of its type: those that this request has written. */
export interface WithOpenFields {
  openFields?: readonly string[]
}

/**
 * Requires the right to read a record for each of its fields, however its node was reached: a mutation answers with
 * nodes too, to callers who may only write. Only fields that are declared as open need no right.
 */
export function guardRecords(schema: GraphQLSchema): void {
  for (const [name, record] of Object.entries(RECORD_TYPES)) {
    const type = schema.getType(name)
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) field.resolve = guarded(name, field, record)
  }
}

/** Answers null, as for what is not there. @throws 404 where the type has no null. */
function guarded(
  typeName: string,
  field: GraphQLField<unknown, CallContext>,
  record: RecordType,
): GraphQLFieldResolver<unknown, CallContext> {
  const resolve = field.resolve ?? defaultFieldResolver
  const isOpenInAll = record.openFields.includes(field.name)
  const isProperty = field.resolve === undefined

  function isOpen(node: unknown): boolean {
    const own = member(node, 'openFields')
    if (Array.isArray(own) && own.includes(field.name)) return true
    // A node may be no more than an id: what it lacks is not found, for everyone.
    return isOpenInAll && !(isProperty && member(node, field.name) === undefined)
  }

  return (node, args, context, info) => {
    if (isOpen(node) || mayRead(record, node, context.caller.rights))
      return resolve(node, args, context, info)
    if (isNonNullType(field.type)) throw notFound(`${field.name} of`, typeName)
    return null
  }
}

function mayRead({ placesOf }: RecordType, node: unknown, rights: Rights): boolean {
  const places = placesOf(node)
  return places.length > 0 && places.every((place) => rights.allows('read', place))
}
