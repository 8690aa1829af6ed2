import { connectionOf, limitOf, type PageArguments } from '../../accounts/graphql/connection.ts'
import { namedProject, nodes } from '../../accounts/graphql/field-access.ts'
import type { Arguments, GraphqlModule } from '../../accounts/graphql/graphql-module.ts'
import type { ProjectNode } from '../../accounts/graphql/project-node.ts'
import type { Subject } from '../../http/access.ts'
import type { Caller } from '../../http/caller.ts'
import { runFields } from './run-fields.ts'
import { plainFile } from './run-file-id.ts'
import { type RunNode, runNode } from './run-node.ts'
import { DEFAULT_PROJECT, runMutations } from './runs-mutations.ts'
import { runsOrder } from './runs-order.ts'
import { RUN_TYPES } from './runs-types.ts'
import type { Runs } from './service.ts'

/**
 * GraphQL fields and mutations of runs.
 * @param removeOutputs deletes the versions of artifacts that a run has logged and nothing names
 */
export function runsModule(runs: Runs, removeOutputs: (runId: string) => Promise<void>): GraphqlModule {
  async function run(project: ProjectNode, { name }: { name: string }): Promise<RunNode | null> {
    const row = await runs.find({ entity: project.entityName, project: project.name, run: name })
    return row === undefined ? null : runNode(row)
  }

  return {
    types: RUN_TYPES,
    access: {
      upsertBucket: { verb: 'ingest', about: aboutUpsert },
      rewindRun: {
        verb: 'write',
        about: (input, caller) =>
          namedProject('write').about(
            { ...input, projectName: input['projectName'] ?? DEFAULT_PROJECT },
            caller,
          ),
      },
      deleteRun: nodes('write', { id: ['run', 'Run'] }),
      deleteFiles: {
        verb: 'write',
        about: ({ files }) => [...runIdsOf(files)].map((id) => ({ kind: 'run', id })),
      },
      stopRun: nodes('write', { id: ['run', 'Run'] }),
      notifyScriptableRunAlert: namedProject('ingest'),
      createRunFiles: namedProject('ingest'),
    },
    resolvers: {
      Project: {
        run,
        bucket: run,
        async runs(project: ProjectNode, args: ListArguments) {
          const found = await runs.page({
            entity: project.entityName,
            project: project.name,
            filters: args.filters ?? null,
            order: runsOrder(args.order),
            after: args.after ?? undefined,
            limit: limitOf(args),
          })
          const nodes = found.map(({ row, cursor }) => ({ ...runNode(row), cursor }))
          return connectionOf(nodes, args, ({ cursor }) => cursor)
        },
        runCount: (project: ProjectNode, args: { filters?: string | null }) =>
          runs.count({ entity: project.entityName, project: project.name, filters: args.filters ?? null }),
      },
      Mutation: runMutations(runs, removeOutputs),
      Run: runFields(runs),
    },
  }
}

/** The runs of files in a list. */
function runIdsOf(files: unknown): Set<string> {
  return new Set(Array.isArray(files) ? files.map((id) => plainFile(String(id)).run_id) : [])
}

/**
 * What the resolver acts on: the project of a run by its name, or a run by its id where it has no name, whatever else
 * is named.
 */
function aboutUpsert(input: Arguments, caller: Caller): readonly Subject[] {
  if (input['id'] != null && input['name'] == null)
    return nodes('ingest', { id: ['run', 'Run'] }).about(input, caller)
  const modelName = input['modelName'] ?? DEFAULT_PROJECT
  return namedProject('ingest', 'modelName').about({ ...input, modelName }, caller)
}

interface ListArguments extends PageArguments {
  filters?: string | null
  order?: string | null
}
