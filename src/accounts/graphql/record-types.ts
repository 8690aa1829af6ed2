import type { Place } from '../../access.ts'

/** How the guard of records decides who may see a node of a type. */
export interface RecordType {
  /** Where a node belongs: readers need a right to each of these. A node without a place has no readers. */
  placesOf: (node: unknown) => readonly Place[]
  /**
   * Fields that any caller may see who has reached a node: those that clients read of what they have just written, and
   * those that every client reads of its user and entities.
   */
  openFields: readonly string[]
}

/**
 * The types of records. They stand together, and not in the modules that declare them, so that one table shows all that
 * callers without a right to read can see.
 */
export const RECORD_TYPES: Readonly<Record<string, RecordType>> = {
  User: {
    placesOf: () => [],
    openFields: [
      ...['id', 'name', 'username', 'email', 'admin', 'flags', 'entity', 'defaultEntity', 'deletedAt'],
      ...['apiKeys', 'teams', 'organizations'],
    ],
  },
  Entity: {
    placesOf: (node) => whole(member(node, 'name')),
    openFields: ['id', 'name', 'isTeam', 'readOnly', 'organization', 'user'],
  },
  Project: {
    placesOf: (node) => place(member(node, 'entityName'), member(node, 'name')),
    openFields: [
      'id',
      'internalId',
      'name',
      'entityName',
      'entity',
      'description',
      'readOnly',
      'isBenchmark',
      'access',
    ],
  },
  /** Wire: clients need the count to resume a run. A node may open further fields. */
  Run: { placesOf: ofRow, openFields: ['id', 'name', 'project', 'sweepName', 'historyLineCount'] },
  /** Wire: for `createArtifact` and `commitArtifact`; a version of the same digest is already committed. */
  Artifact: { placesOf: ofRow, openFields: ['id', 'state', 'digest', 'artifactSequence'] },
  ArtifactSequence: { placesOf: ofRow, openFields: ['id'] },
  ArtifactPortfolio: { placesOf: ofRow, openFields: [] },
  ArtifactType: { placesOf: (node) => inside(member(node, 'of')), openFields: [] },
  ArtifactCollectionMembership: { placesOf: ofMember, openFields: [] },
}

/** The value of a property of a node; undefined for anything without it. */
export function member(node: unknown, name: string): unknown {
  return typeof node === 'object' && node !== null ? Reflect.get(node, name) : undefined
}

function ofRow(node: unknown): Place[] {
  return inside(member(node, 'row'))
}

/** A version may be linked from another project. */
function ofMember(node: unknown): Place[] {
  const collection = inside(member(member(node, 'member'), 'collection'))
  const version = inside(member(member(node, 'member'), 'version'))
  return collection.length === 0 || version.length === 0 ? [] : [...collection, ...version]
}

function inside(row: unknown): Place[] {
  return place(member(row, 'entity'), member(row, 'project'))
}

function place(entity: unknown, project: unknown): Place[] {
  return typeof entity === 'string' && typeof project === 'string' ? [{ entity, project }] : []
}

function whole(entity: unknown): Place[] {
  return typeof entity === 'string' ? [{ entity }] : []
}
