import { plainId } from '../../accounts/graphql/global-id.ts'
import type { Resolver } from '../../accounts/graphql/graphql-module.ts'
import { invalidRequest, notFound } from '../../errors.ts'
import { collectionNode, membershipNode, tagNode } from './artifact-nodes.ts'
import type * as inputs from './artifacts-inputs.ts'
import type { CollectionName } from './collection-queries.ts'
import { linkTargetOf } from './link-target.ts'
import type { Artifacts } from './service.ts'

/** Changes of collections and of the members of portfolios. */
export function collectionMutations(artifacts: Artifacts): Record<string, Resolver> {
  async function payload(id: string) {
    const row = await artifacts.collectionById(id)
    if (row === undefined) throw notFound('artifact collection', id)
    return { artifactCollection: collectionNode(row) }
  }

  async function target(input: inputs.LinkArtifact): Promise<CollectionName> {
    const target = linkTargetOf(input)
    if (!('id' in target)) return target
    const row = await artifacts.collectionById(target.id)
    if (row === undefined) throw notFound('artifact collection', target.id)
    return row
  }

  async function removed(kind: 'sequence' | 'portfolio', id: string) {
    const row = await artifacts.removeCollection(plainId('ArtifactCollection', id), kind)
    return { artifactCollection: { ...collectionNode(row), state: 'DELETED' } }
  }

  return {
    async linkArtifact(_: unknown, { input }: { input: inputs.LinkArtifact }) {
      if (input.artifactID == null) {
        throw invalidRequest('A link needs the artifactID of a version; a clientID is not known here')
      }
      const aliases = (input.aliases ?? []).map(({ alias }) => alias)
      const member = await artifacts.link(plainId('Artifact', input.artifactID), await target(input), aliases)
      return { versionIndex: member.number, artifactMembership: membershipNode(member) }
    },

    async unlinkArtifact(_: unknown, { input }: { input: inputs.UnlinkArtifact }) {
      const portfolio = plainId('ArtifactCollection', input.artifactPortfolioID)
      await artifacts.unlink(plainId('Artifact', input.artifactID), portfolio)
      return { artifactID: input.artifactID, success: true }
    },

    async updateArtifactSequence(
      _: unknown,
      { input }: { input: inputs.CollectionChange & { artifactSequenceID: string } },
    ) {
      const id = plainId('ArtifactCollection', input.artifactSequenceID)
      await artifacts.describeCollection(id, 'sequence', changeIn(input))
      return payload(id)
    },

    async updateArtifactPortfolio(
      _: unknown,
      { input }: { input: inputs.CollectionChange & { artifactPortfolioID: string } },
    ) {
      const id = plainId('ArtifactCollection', input.artifactPortfolioID)
      await artifacts.describeCollection(id, 'portfolio', changeIn(input))
      return payload(id)
    },

    async moveArtifactSequence(_: unknown, { input }: { input: inputs.MoveSequence }) {
      const id = plainId('ArtifactCollection', input.artifactSequenceID)
      await artifacts.moveSequence(id, input.destinationArtifactTypeName)
      return payload(id)
    },

    deleteArtifactSequence: (_: unknown, { input }: { input: { artifactSequenceID: string } }) =>
      removed('sequence', input.artifactSequenceID),

    deleteArtifactPortfolio: (_: unknown, { input }: { input: { artifactPortfolioID: string } }) =>
      removed('portfolio', input.artifactPortfolioID),

    async createArtifactCollectionTagAssignments(_: unknown, { input }: { input: inputs.CollectionTags }) {
      const tags = await artifacts.tagCollection(nameIn(input), { add: input.tags.map((tag) => tag.tagName) })
      return { tags: tags.map(tagNode) }
    },

    async deleteArtifactCollectionTagAssignments(_: unknown, { input }: { input: inputs.CollectionTags }) {
      await artifacts.tagCollection(nameIn(input), { remove: input.tags.map((tag) => tag.tagName) })
      return { success: true }
    },
  }
}

function nameIn(input: inputs.CollectionTags): CollectionName {
  return { entity: input.entityName, project: input.projectName, name: input.artifactCollectionName }
}

/** Wire: clients send the name also where only the description changes, and null to remove a description. */
function changeIn({ name, description }: inputs.CollectionChange) {
  return { name: name ?? undefined, description }
}
