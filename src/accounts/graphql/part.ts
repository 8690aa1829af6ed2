import type { CallContext } from '../../http/caller.ts'

/** The fields of one area of the W&B API: their types, and who answers them. */
export interface GraphqlPart {
  /** Adds to `Query` and `Mutation` by `extend type`. */
  types: string
  /** One resolver per root field; GraphQL has checked the arguments against `types` before it calls. */
  rootFields(context: CallContext): object
}
