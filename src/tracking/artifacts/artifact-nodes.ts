import { z } from 'zod'
import { globalId } from '../../accounts/graphql/global-id.ts'
import { projectNode } from '../../accounts/graphql/project-node.ts'
import type { CollectionName, CollectionRow, FileRow, VersionRow } from './queries.ts'

export type VersionNode = ReturnType<typeof versionNode>
export type CollectionNode = ReturnType<typeof collectionNode>
export type TypeNode = ReturnType<typeof typeNode>
export type MembershipNode = ReturnType<typeof membershipNode>

/** A type of a project's artifacts. */
export function typeNode(of: { entity: string; project: string; name: string }) {
  return { of, id: globalId('ArtifactType', `${of.entity}/${of.project}/${of.name}`), name: of.name }
}

/** A collection, whole or as a version knows it. */
export function collectionNode(row: Pick<CollectionRow, 'id' | 'type'> & CollectionName) {
  const { entity, project, name } = row
  return {
    __typename: 'ArtifactSequence',
    row: { id: row.id, entity, project, name },
    id: globalId('ArtifactCollection', row.id),
    name,
    state: 'READY',
    project: projectNode({ entity, name: project }),
    defaultArtifactType: typeNode({ entity, project, name: row.type }),
    tags: { edges: [] },
    digestAlgorithm: 'MANIFEST_MD5',
  }
}

/** A version as GraphQL passes it from field to field. */
export function versionNode(row: VersionRow) {
  return {
    row,
    id: globalId('Artifact', row.id),
    artifactSequence: collectionNode({ ...row, id: row.collection_id }),
    artifactType: typeNode({ ...row, name: row.type }),
    versionIndex: row.version,
    description: row.description,
    metadata: row.metadata,
    ttlDurationSeconds: 0,
    ttlIsInherited: true,
    tags: tagsOf(row).map((name) => ({ id: globalId('Tag', name), name })),
    state: row.state,
    digest: row.digest,
    digestAlgorithm: 'MANIFEST_MD5',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** A version as a member of its collection. */
export function membershipNode(row: VersionRow) {
  return {
    id: globalId('ArtifactMembership', row.id),
    versionIndex: row.version,
    createdAt: row.created_at,
    artifactCollection: collectionNode({ ...row, id: row.collection_id }),
    artifact: versionNode(row),
  }
}

/** An alias of a version's. */
export function aliasNode(collection: CollectionNode, alias: string) {
  return {
    id: globalId('ArtifactAlias', `${collection.row.id}:${alias}`),
    alias,
    artifactCollection: collection,
  }
}

/** A file; its URLs are good for whoever has them. */
export function fileNode(file: FileRow, url: string) {
  return {
    id: globalId('ArtifactFile', `${file.artifact_id}:${file.name}`),
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

export function tagsOf(row: Pick<VersionRow, 'tags'>): string[] {
  return z.array(z.string()).parse(JSON.parse(row.tags))
}
