/** The GraphQL types of runs. */
export const RUN_TYPES = `
  extend type Project {
    run(name: String!): Run
    bucket(name: String!, missingOk: Boolean): Run
    runs(filters: JSONString, order: String, first: Int, after: String): RunConnection
    runCount(filters: JSONString): Int
  }

  extend type Mutation {
    upsertBucket(input: UpsertBucketInput!): UpsertBucketPayload
    rewindRun(input: RewindRunInput!): RewindRunPayload
    deleteRun(input: DeleteRunInput!): DeleteRunPayload
    createRunFiles(input: CreateRunFilesInput!): CreateRunFilesPayload
    deleteFiles(input: DeleteFilesInput!): RunSuccessPayload
    stopRun(input: StopRunInput!): RunSuccessPayload
    notifyScriptableRunAlert(input: NotifyScriptableRunAlertInput!): RunSuccessPayload
  }

  enum AlertSeverity { INFO WARN ERROR }
  scalar Duration
  type RunSuccessPayload { success: Boolean }
  input DeleteFilesInput { files: [ID!]! projectId: Int clientMutationId: String }
  input StopRunInput { id: ID! clientMutationId: String }
  input NotifyScriptableRunAlertInput {
    entityName: String!
    projectName: String!
    runName: String!
    title: String!
    text: String!
    severity: AlertSeverity
    waitDuration: Duration
    clientMutationId: String
  }

  type RunConnection {
    edges: [RunEdge!]!
    pageInfo: PageInfo!
  }

  type RunEdge {
    node: Run!
    cursor: String!
  }

  type Run {
    id: ID!
    projectId: Int64
    name: String!
    displayName: String
    description: String
    notes: String
    tags: [String!]
    group: String
    jobType: String
    state: String
    stopped: Boolean
    config: JSONString
    wandbConfig(keys: [String!]): JSONString
    summaryMetrics: JSONString
    systemMetrics: JSONString
    sweepName: String
    commit: String
    host: String
    readOnly: Boolean
    createdAt: String
    heartbeatAt: String
    user: User
    project: Project
    historyLineCount: Int
    eventsLineCount: Int
    logLineCount: Int
    historyTail: JSONString
    eventsTail: JSONString
    historyKeys: JSON
    history(minStep: Int64, maxStep: Int64, samples: Int): [JSONString!]
    events(samples: Int): [JSONString!]
    sampledHistory(specs: [JSONString!]!): [JSON!]
    parquetHistory(liveKeys: [String!]!): ParquetHistory
    logLines(first: Int, last: Int, after: String, useImprovedPagination: Boolean): LogLineConnection
    fileCount: Int
    files(names: [String], first: Int, after: String, pattern: String): FileConnection
  }

  type ParquetHistory {
    parquetUrls: [String!]!
    liveData: [JSON!]!
  }

  type LogLineConnection {
    edges: [LogLineEdge!]!
    pageInfo: PageInfo!
  }

  type LogLineEdge {
    node: LogLine!
    cursor: String!
  }

  type LogLine {
    number: Int!
    timestamp: String
    level: String
    label: String
    line: String!
  }

  input UpsertBucketInput {
    id: String
    name: String
    groupName: String
    modelName: String
    entityName: String
    description: String
    displayName: String
    notes: String
    commit: String
    config: JSONString
    host: String
    debug: Boolean
    jobProgram: String
    jobRepo: String
    jobType: String
    state: String
    sweep: String
    tags: [String!]
    summaryMetrics: JSONString
    clientMutationId: String
  }

  type UpsertBucketPayload {
    bucket: Run
    inserted: Boolean
    serverSettings: ServerSettings
  }

  input RewindRunInput {
    runName: String!
    entityName: String
    projectName: String
    metricName: String!
    metricValue: Float!
    clientMutationId: String
  }

  type RewindRunPayload {
    rewoundRun: Run
  }

  input DeleteRunInput {
    id: ID!
    deleteArtifacts: Boolean
    clientMutationId: String
  }

  type DeleteRunPayload {
    clientMutationId: String
  }

  input CreateRunFilesInput {
    entityName: String!
    projectName: String!
    runName: String!
    files: [String!]!
    clientMutationId: String
  }

  type CreateRunFilesPayload {
    runID: ID!
    uploadHeaders: [String!]!
    files: [RunFileUpload!]!
  }

  type RunFileUpload {
    name: String!
    uploadUrl: String!
  }
`
