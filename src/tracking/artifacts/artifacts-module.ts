import { connectionOf, limitOf, type PageArguments } from '../../accounts/graphql/connection.ts'
import { globalId, plainId } from '../../accounts/graphql/global-id.ts'
import type { GraphqlModule, Resolver } from '../../accounts/graphql/graphql-module.ts'
import type { ProjectNode } from '../../accounts/graphql/project-node.ts'
import type { CallContext } from '../../http/caller.ts'
import { type RunNode, runNode } from '../runs/run-node.ts'
import type { Runs } from '../runs/service.ts'
import * as nodes from './artifact-nodes.ts'
import { ARTIFACT_ACCESS } from './artifacts-access.ts'
import { artifactMutations } from './artifacts-mutations.ts'
import { ARTIFACT_TYPES } from './artifacts-types.ts'
import { collectionFields } from './collection-fields.ts'
import { collectionMutations } from './collection-mutations.ts'
import { COLLECTION_TYPES } from './collection-types.ts'
import { type Member, ownMember } from './members.ts'
import { splitReference } from './names.ts'
import type { OfRun } from './queries.ts'
import type { Artifacts } from './service.ts'

/** GraphQL fields and mutations of artifacts. */
export function artifactsModule(artifacts: Artifacts, runs: Runs): GraphqlModule {
  return {
    types: ARTIFACT_TYPES + COLLECTION_TYPES,
    access: ARTIFACT_ACCESS,
    resolvers: {
      Query: {
        async artifact(_: unknown, { id }: { id: string }) {
          const row = await artifacts.version(plainId('Artifact', id))
          return row === undefined ? null : nodes.versionNode(row)
        },
        async artifactCollection(_: unknown, { id }: { id: string }) {
          const row = await artifacts.collectionById(plainId('ArtifactCollection', id))
          return row === undefined ? null : nodes.collectionNode(row)
        },
        /** Wire: clients ask for the version that a file's reference to another version was replaced with. */
        async clientIDMapping(_: unknown, { clientID }: { clientID: string }, { caller }: CallContext) {
          const row = await artifacts.versionOfClient(clientID)
          const { rights } = caller
          // Who may only add data refers to what the same client has just added.
          if (row === undefined || !(rights.allows('read', row) || rights.allows('ingest', row))) return null
          return { serverID: globalId('Artifact', row.id) }
        },
      },
      Mutation: { ...artifactMutations(artifacts, runs), ...collectionMutations(artifacts) },
      ...collectionFields(artifacts),
      Project: {
        ...collectionFields(artifacts).Project,
        async artifact(project: ProjectNode, { name }: { name: string }, context: CallContext) {
          const member = await artifacts.member({ ...inProject(project), ...splitReference(name) })
          return member === undefined || !mayRead(context, member.version)
            ? null
            : nodes.versionNode(member.version)
        },
        async artifactCollectionMembership(
          project: ProjectNode,
          { name }: { name: string },
          context: CallContext,
        ) {
          const member = await artifacts.member({ ...inProject(project), ...splitReference(name) })
          return member === undefined || !mayRead(context, member.version)
            ? null
            : nodes.membershipNode(member)
        },
      },
      ArtifactCollectionMembership: {
        aliases: ({ member }: nodes.MembershipNode) => aliasesIn(artifacts, member),
        files: ({ artifact }: nodes.MembershipNode, args: FilesArguments, context: CallContext) =>
          filesOf(artifacts, artifact, args, context),
      },
      Artifact: versionFields(artifacts, runs),
      Run: {
        outputArtifacts: ({ row }: RunNode, args: PageArguments, context: CallContext) =>
          ofRun(artifacts, { run_id: row.id, role: 'output', rights: context.caller.rights }, args),
        inputArtifacts: ({ row }: RunNode, args: PageArguments, context: CallContext) =>
          ofRun(artifacts, { run_id: row.id, role: 'input', rights: context.caller.rights }, args),
      },
    },
  }
}

/** Fields of a version that are not in its row. */
function versionFields(artifacts: Artifacts, runs: Runs): Record<string, Resolver> {
  return {
    size: async ({ row }: nodes.VersionNode) => (await artifacts.totals(row.id)).bytes,
    fileCount: async ({ row }: nodes.VersionNode) => (await artifacts.totals(row.id)).count,
    /**
     * Wire: `v3` is an alias in a portfolio too, from which clients take the number of a version that they list there.
     */
    async aliases({ row }: nodes.VersionNode, _args: unknown, context: CallContext) {
      const found = await aliasesIn(artifacts, ownMember(row))
      for (const link of await artifacts.links(row.id, context.caller.rights)) {
        found.push(...(await aliasesIn(artifacts, link)))
        found.push(nodes.aliasNode(nodes.collectionNode(link.collection), `v${link.number}`))
      }
      return found
    },

    files: (version: nodes.VersionNode, args: FilesArguments, context: CallContext) =>
      filesOf(artifacts, version, args, context),

    async currentManifest({ row }: nodes.VersionNode, _args: unknown, context: CallContext) {
      if (row.state !== 'COMMITTED') return null
      const url = await artifacts.manifestUrl('GET', row.id, context)
      const name = 'wandb_manifest.json'
      const id = globalId('ArtifactManifest', row.id)
      return { id, file: { id, name, displayName: name, url, directUrl: url, sizeBytes: 0 } }
    },

    async createdBy({ row }: nodes.VersionNode) {
      const run = row.run_id === null ? undefined : await runs.byId(row.run_id)
      if (run !== undefined) return { __typename: 'Run', ...runNode(run) }
      return {
        __typename: 'User',
        id: globalId('User', row.created_by),
        name: row.created_by,
        username: row.created_by,
      }
    },

    async usedBy({ row }: nodes.VersionNode, _args: unknown, context: CallContext) {
      const users = await runs.usersOf(row.id, USERS_MAX)
      const visible = users.filter((run) => mayRead(context, run))
      return { edges: visible.map((run) => ({ node: runNode(run) })) }
    },

    async artifactMemberships({ row }: nodes.VersionNode, _args: unknown, context: CallContext) {
      const members = [ownMember(row), ...(await artifacts.links(row.id, context.caller.rights))]
      return { edges: members.map((member) => ({ node: nodes.membershipNode(member) })) }
    },
  }
}

/** Runs that used a version, as one answer has them. Wire: clients do not ask for pages of them. */
const USERS_MAX = 5_000

interface FilesArguments extends PageArguments {
  names?: string[] | null
}

/** Links and runs lead to other projects, of which a caller sees only its own. */
function mayRead({ caller }: CallContext, place: { entity: string; project: string }): boolean {
  return caller.rights.allows('read', place)
}

async function filesOf(
  artifacts: Artifacts,
  { row }: nodes.VersionNode,
  args: FilesArguments,
  context: CallContext,
) {
  const page = { after: args.after ?? '', limit: limitOf(args) }
  const files = await artifacts.filesOf(row.id, args.names ?? [], page)
  const found = await Promise.all(
    files.map(async (file) =>
      nodes.fileNode(file, file.reference ?? (await artifacts.fileUrl('GET', row.id, file.name, context))),
    ),
  )
  const totalCount = async (): Promise<number> => (await artifacts.totals(row.id, args.names ?? [])).count
  return { ...connectionOf(found, args, (node) => node.name), totalCount }
}

async function aliasesIn(artifacts: Artifacts, member: Member) {
  const collection = nodes.collectionNode(member.collection)
  return (await artifacts.memberAliases(member)).map((alias) => nodes.aliasNode(collection, alias))
}

async function ofRun(artifacts: Artifacts, of: OfRun, args: PageArguments) {
  const rows = await artifacts.versionsOfRun(of, { after: args.after ?? '', limit: limitOf(args) })
  const page = connectionOf(rows.map(nodes.versionNode), args, (node) => node.row.id)
  return { ...page, totalCount: () => artifacts.countVersionsOfRun(of) }
}

function inProject({ entityName, name }: ProjectNode): { entity: string; project: string } {
  return { entity: entityName, project: name }
}
