/** What rules of the W&B API look at: names of entities and projects under several names, and ids of nodes. */

import type { Verb } from '../../access.ts'
import type { AccessRule, OwnedKind } from '../../http/access.ts'
import { plainId } from './global-id.ts'
import type { Arguments } from './graphql-module.ts'

/** The project of the arguments, in the caller's entity where they name none. */
export function namedProject(verb: Verb, projectMember = 'projectName'): AccessRule<Arguments> {
  return {
    verb,
    about(args, caller) {
      const named = args[projectMember]
      const entity = textOf(args, 'entityName') ?? caller.defaultEntity
      return [{ entity, project: typeof named === 'string' ? named : undefined }]
    },
  }
}

/** Nodes by their ids: one in each of the members that the arguments have. */
export function nodes(
  verb: Verb,
  kinds: Partial<Record<string, readonly [OwnedKind, type: string]>>,
): AccessRule<Arguments> {
  return {
    verb,
    about: (args) =>
      Object.entries(kinds).flatMap(([member, named]) => {
        const id = textOf(args, member)
        return id === undefined || named === undefined ? [] : [{ kind: named[0], id: plainId(named[1], id) }]
      }),
  }
}

function textOf(args: Arguments, member: string): string | undefined {
  const value = args[member]
  return typeof value === 'string' ? value : undefined
}
