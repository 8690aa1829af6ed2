import { type Place, placeOf, type Rights, requireRight, type Verb } from '../access.ts'
import { notAllowed, notFound, unauthorized } from '../errors.ts'
import type { Caller } from './caller.ts'

/** Things that are named by an id, which does not tell whose they are. */
export type OwnedKind =
  | 'model'
  | 'training job'
  | 'training data'
  | 'artifact version'
  | 'artifact collection'
  | 'run'

/** What a request is about: a place that it names, or a thing by its id; `verb` where it is not that of the rule. */
export type Subject = (Place | { kind: OwnedKind; id: string }) & { verb?: Verb }

/** What a request needs a right to, found in its checked input. */
export interface AccessRule<Input> {
  verb: Verb
  /** Nothing where the handler finds it while it reads; it then calls {@link requireRight} itself. */
  about: (input: Input, caller: Caller) => readonly Subject[]
  /** Operators of the server may do it too, whether they belong to the entity or not. */
  orOperator?: true
}

/**
 * Who may send a request:
 * - `open`: anyone; the reply is the same for all and holds nothing of any project
 * - `signed`: whoever has the address, which the handler checks
 * - `any-key`: every caller with a key; the reply holds only what that caller may see
 * - `operator`: those who run the server
 * - `machine`: the same; where any key is accepted, also without one, since monitors send none
 * - a rule: callers with a right to what the request names
 */
export type Access<Input> = 'open' | 'signed' | 'any-key' | 'operator' | 'machine' | AccessRule<Input>

/** Whether a caller sends a request as an operator, whatever entity it names. */
export function isForOperator(access: Access<never>, rights: Pick<Rights, 'isOperator'>): boolean {
  if (access === 'operator' || access === 'machine') return true
  return typeof access === 'object' && access.orOperator === true && rights.isOperator
}

/** Whether a request without a key is refused on every server. */
export function needsKey(access: Access<never>): boolean {
  return access !== 'open' && access !== 'signed' && access !== 'machine'
}

/** The project in `project_id`, of the body or the query. */
export function project(verb: Verb): AccessRule<{ project_id: string }> {
  return projects(verb, ({ project_id }) => [project_id])
}

/** The projects, `entity/project`, that a function finds in the input. */
export function projects<Input>(verb: Verb, find: (input: Input) => Iterable<string>): AccessRule<Input> {
  return { verb, about: (input) => [...new Set(find(input))].map(placeOf) }
}

/** Entity and project of the path. */
export function pathProject(verb: Verb): AccessRule<{ entity: string; project: string }> {
  return { verb, about: ({ entity, project }) => [{ entity, project }] }
}

/** The entity that a request names, or the caller's, and its project where it names one. */
export function entity(
  verb: Verb,
): AccessRule<{ entity?: string | null | undefined; project?: string | undefined }> {
  return {
    verb,
    about: ({ entity, project }, { defaultEntity }) => [{ entity: entity ?? defaultEntity, project }],
  }
}

/** A thing by the id in a member of the input; nothing where a request may leave it out and does. */
export function owned<Name extends string>(
  verb: Verb,
  kind: OwnedKind,
  member: Name,
): AccessRule<{ [name in Name]?: string | undefined }> {
  return {
    verb,
    about(input) {
      const id = input[member]
      return id === undefined ? [] : [{ kind, id }]
    },
  }
}

/** All that two rules ask for, each with its own verb. */
export function together<First, Second>(
  first: AccessRule<First>,
  second: AccessRule<Second>,
): AccessRule<First & Second> {
  const ofSecond = second.verb
  return {
    verb: first.verb,
    about: (input, caller) => [
      ...first.about(input, caller),
      ...second.about(input, caller).map((subject) => ({ verb: ofSecond, ...subject })),
    ],
  }
}

/** What is needed is known only while the handler reads; it checks each place itself. */
export function byHandler(verb: Verb): AccessRule<unknown> {
  return { verb, about: () => [] }
}

/** Whose a thing is; undefined for an id that nothing has. Each area answers for its kinds. */
export type OwnerOf = (id: string) => Promise<Place | undefined>
export type Owners = Partial<Record<OwnedKind, OwnerOf>>

/** A place that a request is about, and what it may do there. */
export type Allowed = Place & { verb: Verb }

/**
 * Checks a request before its handler runs, and resolves with what it is about; with nothing where that makes no
 * difference, or only the handler finds it.
 * @throws 403 for what is named by entity and project, whether it exists or not; for what is named by an id 404, as for
 * an id that nothing has, and 403 only for callers who may read it.
 */
export type Authorize = <Input>(
  access: Access<Input>,
  input: Input,
  caller: Caller,
) => Promise<readonly Allowed[]>

/** @param closed places that nothing is read of or written to, by callers of any rights */
export function createAuthorize(
  owners: Owners,
  closed: { isAny(): boolean; check(place: Place): void } = { isAny: () => false, check: () => undefined },
): Authorize {
  async function checkNotClosed(subject: Subject): Promise<void> {
    const place = 'kind' in subject ? await owners[subject.kind]?.(subject.id) : subject
    if (place !== undefined) closed.check({ entity: place.entity, project: place.project })
  }

  async function check(verb: Verb, subject: Subject, { rights }: Caller): Promise<Allowed> {
    if (!('kind' in subject)) {
      requireRight(rights, verb, subject)
      return { ...subject, verb }
    }
    const place = await owners[subject.kind]?.(subject.id)
    // 404 only for callers with neither this right nor `read`: others may learn that it exists.
    const isHidden = place === undefined || !(rights.allows(verb, place) || rights.allows('read', place))
    if (isHidden) throw notFound(subject.kind, subject.id)
    requireRight(rights, verb, place)
    return { ...place, verb }
  }

  return async (access, input, caller) => {
    const { rights } = caller
    if (closed.isAny() && typeof access === 'object')
      for (const subject of access.about(input, caller)) await checkNotClosed(subject)
    if (access === 'open' || access === 'signed' || access === 'any-key' || rights.entities === 'all')
      return []
    if (access === 'operator' || access === 'machine') {
      if (caller.keyId === '') throw unauthorized()
      if (!rights.isOperator) throw notAllowed('Only operators of this server may do this')
      return []
    }
    if (isForOperator(access, rights)) return []
    const allowed: Allowed[] = []
    for (const subject of access.about(input, caller))
      allowed.push(await check(subject.verb ?? access.verb, subject, caller))
    return allowed
  }
}
