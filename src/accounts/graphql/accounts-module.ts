import { invalidRequest } from '../../errors.ts'
import { type CallContext, type Caller, originOf } from '../../http/caller.ts'
import type { PublicAddress } from '../../settings/public-address.ts'
import type { Identity } from '../identity/service.ts'
import type { Projects } from '../projects.ts'
import { ACCOUNT_TYPES } from './accounts-types.ts'
import { connectionOf, limitOf, type PageArguments } from './connection.ts'
import { namedProject } from './field-access.ts'
import { globalId } from './global-id.ts'
import type { GraphqlModule } from './graphql-module.ts'
import { type EntityNode, entityNode, type ProjectNode, projectNode } from './project-node.ts'

/**
 * The newest wandb that tests use. Wire: 0.22 lists artifacts only with servers that know a version, and takes newer
 * ones for more able.
 */
const NEWEST_CLIENT = '0.31.0'

/** The caller, and whether a project exists or is to be created: what W&B clients ask before anything else. */
export function accountsModule({
  projects,
  identity,
  publicAddress,
}: {
  projects: Projects
  identity: Identity
  publicAddress: PublicAddress
}): GraphqlModule {
  async function project({ name, entityName }: ProjectArguments, { caller }: CallContext) {
    const wanted = { entity: entityName ?? caller.defaultEntity, name: name ?? '' }
    return (await projects.exists(wanted)) ? projectNode(wanted) : null
  }

  return {
    types: ACCOUNT_TYPES,
    access: {
      viewer: 'any-key',
      serverInfo: 'any-key',
      project: namedProject('read', 'name'),
      model: namedProject('read', 'name'),
      models: namedProject('read', 'project'),
      entity: { verb: 'read', about: ({ name }) => [{ entity: String(name) }] },
      upsertModel: namedProject('ingest', 'name'),
    },
    resolvers: {
      Query: {
        viewer: (_: unknown, _args: unknown, { caller }: CallContext) => viewerNode(caller, identity),
        project: (_: unknown, args: ProjectArguments, context: CallContext) => project(args, context),
        /** Wire: a model is a project. */
        model: (_: unknown, args: ProjectArguments, context: CallContext) => project(args, context),
        entity: (_: unknown, { name }: { name: string }) => entityNode(name),
        /** Wire: features name what newer servers can do; without any, clients use what all servers can. */
        serverInfo: (_: unknown, _args: unknown, context: CallContext) => ({
          features: [],
          cliVersionInfo: { max_cli_version: NEWEST_CLIENT },
          frontendHost: publicAddress(originOf(context)),
        }),
        async models(_: unknown, args: PageArguments & { entityName?: string | null }, context: CallContext) {
          const entity = args.entityName ?? context.caller.defaultEntity
          const rows = await projects.list({ entity, after: args.after ?? '', limit: limitOf(args) })
          return connectionOf(rows.map(projectNode), args, (node) => node.name)
        },
      },
      Mutation: {
        /** Wire: the reply repeats what was sent. Descriptions are not stored, so later replies have none. */
        async upsertModel(_: unknown, { input }: UpsertArguments, { caller }: CallContext) {
          const entity = input.entityName ?? caller.defaultEntity
          if (!input.name) throw invalidRequest('A project needs a name')
          const inserted = !(await projects.exists({ entity, name: input.name }))
          await projects.ensureById(`${entity}/${input.name}`)
          const node = { ...projectNode({ entity, name: input.name }), description: input.description }
          return { model: node, project: node, inserted }
        },
      },
      Project: {
        createdAt: ({ name, entityName }: ProjectNode) => projects.createdAt({ entity: entityName, name }),
        user: (_: ProjectNode, _args: unknown, { caller }: CallContext) => userNode(caller),
      },
      Entity: {
        isTeam: ({ name }: EntityNode, _args: unknown, { caller: { user, rights } }: CallContext) =>
          rights.entities !== 'all' && name !== user,
        readOnly: ({ name }: EntityNode, _args: unknown, { caller: { rights } }: CallContext) =>
          !rights.allows('ingest', { entity: name, project: rights.project }),
      },
    },
  }
}

/** The caller as GraphQL shows it. Wire: `teams` has the caller's own entity as well. */
function userNode(caller: Caller) {
  const { user, defaultEntity, rights } = caller
  const entities = rights.entities === 'all' ? [defaultEntity] : rights.entities
  return {
    id: globalId('User', user),
    name: user,
    username: user,
    admin: rights.entities !== 'all' && rights.isOperator,
    flags: '{}',
    entity: defaultEntity,
    defaultEntity: entityNode(defaultEntity),
    apiKeys: { edges: [] },
    teams: { edges: entities.map((name) => ({ node: entityNode(name) })) },
  }
}

async function viewerNode(caller: Caller, identity: Identity) {
  const stored = caller.rights.entities === 'all' ? undefined : await identity.userNamed(caller.user)
  return { ...userNode(caller), email: stored?.email ?? null }
}

interface ProjectArguments {
  name?: string | null
  entityName?: string | null
}

interface UpsertArguments {
  input: { name?: string | null; entityName?: string | null; description?: string | null }
}
