import type { Access } from '../../http/access.ts'
import type { CallContext } from '../../http/caller.ts'

/**
 * Answers one field: from the object it belongs to, its arguments, which GraphQL has checked against the types, and the
 * caller. Each resolver names the types that its module's own `types` declare.
 */
export type Resolver = (source: never, args: never, context: CallContext) => unknown

/** The arguments of a field; of a mutation, the members of its `input`. */
export type Arguments = Readonly<Record<string, unknown>>

/** The fields of one area of the W&B API: their types, and their resolvers. */
export interface GraphqlModule {
  /** Adds types, and fields to the types of other modules by `extend type`. */
  types: string
  /**
   * Who may ask for each field of `Query` and `Mutation`; their arguments, or the members of their `input`, are what a
   * rule looks at. What a query may not see is null, as what does not exist.
   */
  access: Record<string, Access<Arguments>>
  /**
   * By type and field; a field without one is a property of its object. A type that has some is in `RECORD_TYPES`, and
   * who may not read a node there is answered as if the field had nothing.
   */
  resolvers: Record<string, Record<string, Resolver>>
}
