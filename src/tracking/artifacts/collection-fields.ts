import { z } from 'zod'
import { connectionOf, limitOf, type PageArguments } from '../../accounts/graphql/connection.ts'
import type { Resolver } from '../../accounts/graphql/graphql-module.ts'
import type { ProjectNode } from '../../accounts/graphql/project-node.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import * as nodes from './artifact-nodes.ts'
import { splitReference } from './names.ts'
import type { Artifacts } from './service.ts'
import { tagsOf } from './versions.ts'

/** The fields from a project to the versions of an artifact: types and collections. */
export function collectionFields(
  artifacts: Artifacts,
): Record<'Project' | 'ArtifactType' | 'ArtifactSequence' | 'ArtifactPortfolio', Record<string, Resolver>> {
  async function collection(
    of: { entity: string; project: string; name: string },
    type: string | undefined,
  ): Promise<nodes.CollectionNode | null> {
    const row = await artifacts.collection(of)
    return row === undefined || (type !== undefined && row.type !== type) ? null : nodes.collectionNode(row)
  }

  async function collections(
    project: { entity: string; project: string },
    type: string | undefined,
    args: ListArguments,
  ) {
    if ((args.filters ?? '{}') !== '{}') throw invalidRequest('Collections cannot be filtered')
    const page = { after: args.after ?? '', limit: limitOf(args) }
    const rows = await artifacts.collections({ ...project, type }, page)
    const connection = connectionOf(rows.map(nodes.collectionNode), args, (node) => node.name)
    return { ...connection, totalCount: () => artifacts.countCollections({ ...project, type }) }
  }

  return {
    Project: {
      async artifactType(project: ProjectNode, { name }: { name: string }) {
        const types = await artifacts.types(inProject(project))
        return types.some((type) => type.name === name)
          ? nodes.typeNode({ ...inProject(project), name })
          : null
      },
      async artifactTypes(project: ProjectNode, args: PageArguments) {
        const types = await artifacts.types(inProject(project))
        const found = types.map(({ name }) => nodes.typeNode({ ...inProject(project), name }))
        return connectionOf(found, { first: found.length, after: args.after ?? null }, (node) => node.name)
      },
      artifactCollection: (project: ProjectNode, { name }: { name: string }) =>
        collection({ ...inProject(project), name }, undefined),
      artifactCollections: (project: ProjectNode, args: ListArguments) =>
        collections(inProject(project), undefined, args),
    },

    ArtifactType: {
      async createdAt({ of }: nodes.TypeNode) {
        const types = await artifacts.types(of)
        return types.find((type) => type.name === of.name)?.created_at ?? ''
      },
      artifactCollection: ({ of }: nodes.TypeNode, { name }: { name: string }) =>
        collection({ ...of, name }, of.name),
      async artifactSequence({ of }: nodes.TypeNode, { name }: { name: string }) {
        const found = await collection({ ...of, name }, of.name)
        return found?.row.kind === 'sequence' ? found : null
      },
      async artifact({ of }: nodes.TypeNode, { name }: { name: string }, { caller }: CallContext) {
        const wanted = { entity: of.entity, project: of.project, type: of.name, ...splitReference(name) }
        const member = await artifacts.member(wanted)
        return member !== undefined && caller.rights.allows('read', member.version)
          ? nodes.versionNode(member.version)
          : null
      },
      artifactCollections: ({ of }: nodes.TypeNode, args: ListArguments) =>
        collections({ entity: of.entity, project: of.project }, of.name, args),
    },

    ArtifactPortfolio: fieldsOfBoth(artifacts),
    ArtifactSequence: {
      ...fieldsOfBoth(artifacts),
      async latestArtifact({ row }: nodes.CollectionNode) {
        const newest = await artifacts.newest(row.id)
        return newest === undefined ? null : nodes.versionNode(newest)
      },
    },
  }
}

/** The fields that sequences and portfolios have. */
function fieldsOfBoth(artifacts: Artifacts): Record<string, Resolver> {
  const whole = ({ row }: nodes.CollectionNode) => artifacts.collectionById(row.id)
  return {
    createdAt: async (node: nodes.CollectionNode) => (await whole(node))?.created_at ?? '',
    updatedAt: async (node: nodes.CollectionNode) => (await whole(node))?.updated_at ?? null,
    description: async (node: nodes.CollectionNode) => (await whole(node))?.description ?? null,

    async tags(node: nodes.CollectionNode) {
      const row = await whole(node)
      return { edges: row === undefined ? [] : tagsOf(row).map((tag) => ({ node: nodes.tagNode(tag) })) }
    },

    async artifactMembership(
      { row }: nodes.CollectionNode,
      { aliasName }: { aliasName: string },
      { caller }: CallContext,
    ) {
      const member = await artifacts.member({ ...row, alias: aliasName })
      return member === undefined || !caller.rights.allows('read', member.version)
        ? null
        : nodes.membershipNode(member)
    },

    async aliases(node: nodes.CollectionNode, args: PageArguments) {
      const page = { after: args.after ?? '', limit: limitOf(args) }
      const aliases = await artifacts.aliasesOfCollection(node.row, page)
      const found = aliases.map((alias) => nodes.aliasNode(node, alias))
      return connectionOf(found, args, (alias) => alias.alias)
    },

    async artifacts({ row }: nodes.CollectionNode, args: ListArguments, { caller }: CallContext) {
      const filter = { state: stateIn(args.filters), rights: caller.rights }
      const page = { after: args.after ?? undefined, limit: limitOf(args), order: orderOf(args.order) }
      const members = await artifacts.members(row, filter, page)
      const { edges, pageInfo } = connectionOf(members, args, (member) => member.cursor)
      const versioned = edges.map(({ node: { version, number }, cursor }) => ({
        cursor,
        node: nodes.versionNode(version),
        version: `v${number ?? ''}`,
      }))
      return { edges: versioned, pageInfo, totalCount: () => artifacts.countMembers(row, filter) }
    },
  }
}

interface ListArguments extends PageArguments {
  filters?: string | null
  order?: string | null
}

const Filters = z.strictObject({ state: z.enum(['PENDING', 'COMMITTED', 'DELETED']).optional() })

/** Wire: clients ask for committed versions, in MongoDB's query language. @throws 400 for any other condition. */
function stateIn(filters: string | null | undefined): z.output<typeof Filters>['state'] {
  const parsed = Filters.safeParse(json(filters ?? '{}'))
  if (!parsed.success) throw invalidRequest('Versions can be filtered by their state only', 'filters')
  return parsed.data.state ?? 'COMMITTED'
}

/** Wire: `-createdAt`, or another sign; without an order the newest come first. */
function orderOf(order: string | null | undefined): 'asc' | 'desc' {
  const [, sign, field] = /^([+-]?)(.*)$/.exec(order || '-createdAt') ?? []
  if (!['createdAt', 'created_at', 'versionIndex'].includes(field ?? '')) {
    throw invalidRequest(`Versions can be ordered by createdAt, not by ${field}`)
  }
  return sign === '-' ? 'desc' : 'asc'
}

function inProject({ entityName, name }: ProjectNode): { entity: string; project: string } {
  return { entity: entityName, project: name }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
