import { GraphQLError, Kind } from 'graphql'

/** What W&B has and this server has not, by the fields and types with which clients ask for it. */
const ABSENT: Readonly<Record<string, readonly string[]>> = {
  Sweeps: ['sweep', 'upsertSweep', 'UpsertSweepInput', 'createAgent', 'agentHeartbeat', 'enqueueSweepRun'],
  'Queues of launch': [
    ...['runQueue', 'runQueues', 'createRunQueue', 'upsertRunQueue', 'deleteRunQueues', 'deleteFromRunQueue'],
    ...['pushToRunQueue', 'pushToRunQueueByName', 'popFromRunQueue', 'ackRunQueueItem', 'failRunQueueItem'],
    ...[
      'updateRunQueueItemWarning',
      'launchAgent',
      'createLaunchAgent',
      'updateLaunchAgent',
      'updateRunState',
    ],
  ],
  'Reports and charts': ['view', 'upsertView', 'deleteView', 'createCustomChart'],
  'Lists and changes of users by W&B clients': ['users', 'createUser', 'createServiceAccount'],
  'Keys made by W&B clients': ['generateApiKey', 'deleteApiKey', 'createAnonymousEntity'],
  'Teams of W&B clients': ['members', 'createTeam', 'createInvite', 'deleteInvite'],
  Automations: [
    ...['triggers', 'createFilterTrigger', 'updateFilterTrigger', 'deleteTrigger', 'integrations'],
    ...['createGenericWebhookIntegration', 'FilterEventTriggeringCondition'],
  ],
  'Organizations and registries': [
    ...['organization', 'orgProjects', 'createProjectMembers', 'deleteProjectMembers', 'updateProjectMember'],
    ...['updateProjectTeamMember'],
  ],
  'Renaming and deleting projects by W&B clients': ['renameProject', 'deleteModel'],
}

const FEATURE_OF = new Map(
  Object.entries(ABSENT).flatMap(([feature, names]) => names.map((name) => [name, feature] as const)),
)

/** The errors of a document; one that names the feature where the document asks for what the server has not. */
export function withAbsentFeature(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  for (const error of errors) {
    const feature = error.originalError === undefined ? featureOf(error) : undefined
    if (feature !== undefined)
      return [new GraphQLError(`${feature} are not supported by Heddle`, { nodes: error.nodes })]
  }
  return errors
}

/** Of an error of validation, which is about a field or a type that the schema lacks. */
function featureOf({ nodes, path }: GraphQLError): string | undefined {
  const node = nodes?.[0]
  if (path !== undefined || (node?.kind !== Kind.FIELD && node?.kind !== Kind.NAMED_TYPE)) return undefined
  return FEATURE_OF.get(node.name.value)
}
