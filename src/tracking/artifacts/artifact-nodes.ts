import { globalId } from '../../accounts/graphql/global-id.ts'
import { projectNode } from '../../accounts/graphql/project-node.ts'
import { type CollectionRef, type Member, ownMember } from './members.ts'
import type { FileRow, VersionRow } from './queries.ts'
import { tagsOf } from './versions.ts'

// Nodes are what GraphQL passes from field to field: an interface has what the resolvers of fields read, and the
// function that makes one adds the fields that need no resolver.

/** A type of a project's artifacts. */
export interface TypeNode {
  of: { entity: string; project: string; name: string }
}

/** A collection, complete or as a version refers to it. */
export interface CollectionNode {
  row: CollectionRef
}

export interface VersionNode {
  row: VersionRow
}

/** A version as a member of a collection. */
export interface MembershipNode {
  member: Member
  artifact: VersionNode
}

export function typeNode(of: TypeNode['of']) {
  return { of, id: globalId('ArtifactType', `${of.entity}/${of.project}/${of.name}`), name: of.name }
}

export function collectionNode(row: CollectionRef) {
  const { id, kind, type, entity, project, name } = row
  return {
    __typename: kind === 'portfolio' ? 'ArtifactPortfolio' : 'ArtifactSequence',
    row: { id, kind, type, entity, project, name },
    id: globalId('ArtifactCollection', id),
    name,
    state: 'READY',
    project: projectNode({ entity, name: project }),
    defaultArtifactType: typeNode({ entity, project, name: type }),
    digestAlgorithm: 'MANIFEST_MD5',
  }
}

export function versionNode(row: VersionRow) {
  return {
    row,
    id: globalId('Artifact', row.id),
    artifactSequence: collectionNode(ownMember(row).collection),
    artifactType: typeNode({ ...row, name: row.type }),
    versionIndex: row.version,
    description: row.description,
    metadata: row.metadata,
    ttlDurationSeconds: 0,
    ttlIsInherited: true,
    tags: tagsOf(row).map(tagNode),
    state: row.state,
    digest: row.digest,
    digestAlgorithm: 'MANIFEST_MD5',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function membershipNode(member: Member) {
  return {
    member,
    id: globalId('ArtifactMembership', `${member.collection.id}:${member.version.id}`),
    versionIndex: member.number,
    createdAt: member.since,
    artifactCollection: collectionNode(member.collection),
    artifact: versionNode(member.version),
  }
}

export function tagNode(name: string) {
  return { id: globalId('Tag', name), name }
}

/** An alias of a version's. */
export function aliasNode(collection: CollectionNode, alias: string) {
  return {
    id: globalId('ArtifactAlias', `${collection.row.id}:${alias}`),
    alias,
    artifactCollection: collection,
  }
}

export function artifactFileId(artifactId: string, name: string): string {
  return globalId('ArtifactFile', `${artifactId}:${name}`)
}

/** A file; its URLs work without a key, and that of a reference is the reference. */
export function fileNode(file: FileRow, url: string) {
  return {
    id: artifactFileId(file.artifact_id, file.name),
    name: file.name,
    displayName: file.name,
    url,
    directUrl: url,
    sizeBytes: file.size,
    md5: file.md5,
    digest: file.md5,
    storagePath: file.name,
  }
}
