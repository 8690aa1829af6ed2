/** What callers may do, and to what. Services see rights only as {@link Rights}; `accounts/` decides them. */
import { type ClientError, notAllowed } from './errors.ts'

/**
 * What a request does to what it names. `ingest` adds traced or logged data and reads none; `write` changes, deletes or
 * trains; `infer` has a model answer; `manage` changes settings, members and limits, and deletes whole projects.
 */
export const VERBS = ['read', 'ingest', 'write', 'infer', 'manage'] as const
export type Verb = (typeof VERBS)[number]

/** Where data belongs: a whole entity, or one project of it. */
export interface Place {
  entity: string
  project?: string | undefined
}

/** What a key or a session may do. It does not change during a request. */
export interface Rights {
  allows(verb: Verb, place: Place): boolean
  /** Entities that the caller belongs to; `all` where every key may do everything. */
  readonly entities: 'all' | readonly string[]
  /** The only project of the only entity, for a key that is limited to it. */
  readonly project: string | undefined
  /** Whether the caller may see and change the server itself: its machine, users and settings. */
  readonly isOperator: boolean
  /** Whether a person has them in a browser, who may know of no key; absent for keys. */
  readonly isInSession?: true
}

/** Of the one user of a server that accepts any key. */
export const ALL_RIGHTS: Rights = {
  allows: () => true,
  entities: 'all',
  project: undefined,
  isOperator: true,
}

/** Of requests without a key, to routes that need none. */
export const NO_RIGHTS: Rights = { allows: () => false, entities: [], project: undefined, isOperator: false }

const DOES: Record<Verb, string> = {
  read: 'read',
  ingest: 'write to',
  write: 'change',
  infer: 'ask models for',
  manage: 'manage',
}

/** @throws 403, with the same message whether the place exists or not. */
export function requireRight(rights: Rights, verb: Verb, place: Place): void {
  if (!rights.allows(verb, place)) {
    throw mayNot(rights, `${DOES[verb]} ${nameOf(place)}`)
  }
}

/** 403 for a caller without a right. @param what the rest of "This key may not …" */
export function mayNot({ isInSession }: Pick<Rights, 'isInSession'>, what: string): ClientError {
  return notAllowed(`${isInSession ? 'You' : 'This key'} may not ${what}`)
}

/** Whether a caller has a right in any of its places, for work that begins before it is known which one it is about. */
export function allowsSomewhere({ allows, entities, project }: Rights, verb: Verb): boolean {
  return entities === 'all' || entities.some((entity) => allows(verb, { entity, project }))
}

/** The place of a wire id, `entity/project`; of any other text, a place that no one has. */
export function placeOf(projectId: string): Place {
  const at = projectId.indexOf('/')
  return at < 0 ? { entity: projectId } : { entity: projectId.slice(0, at), project: projectId.slice(at + 1) }
}

/** Longer names are no names. */
const SHOWN_CHARS = 260

function nameOf({ entity, project }: Place): string {
  return (project === undefined ? entity : `${entity}/${project}`).slice(0, SHOWN_CHARS)
}
