import { notImplemented } from '../../errors.ts'
import { type Route, route } from '../../http/route.ts'
import { Nothing, RuntimePath } from './wire.ts'

const AGENTS = 'Spans of agents are not kept: trace them as calls'
const SOURCES = 'Where the rows of a dataset come from is not kept'
const ACTIONS = 'Actions are not executed on the server'
const RESCORING = 'Evaluations are not scored on the server: evaluate again with the new scorers'
const FILE_URLS =
  'Files lie in the server itself, not at an address of their own: read them with /file/content'
const RUNTIMES = 'Runtimes of others are not called: the models of this server are'

/** Parts of the wire that this server does not implement: a clear error is better than a 404. */
export function unsupportedRoutes(): Route[] {
  return [
    refused('POST', '/agents/query', 'agents_query', AGENTS),
    refused('POST', '/agents/search', 'agents_search', AGENTS),
    refused('POST', '/agents/agent-versions/query', 'agent_versions_query', AGENTS),
    refused('POST', '/agents/conversations/chat', 'agent_conversation_chat', AGENTS),
    refused('POST', '/agents/conversations/spans', 'agent_conversation_spans', AGENTS),
    refused('POST', '/agents/spans/query', 'agent_spans_query', AGENTS),
    refused('POST', '/agents/spans/stats', 'agent_spans_stats', AGENTS),
    refused('POST', '/agents/spans/custom-attrs/schema', 'agent_spans_schema', AGENTS),
    refused('POST', '/agents/traces/chat', 'agent_trace_chat', AGENTS),
    refused('POST', '/dataset_sources/link', 'dataset_sources_link', SOURCES),
    refused('POST', '/dataset_sources/link_delete', 'dataset_sources_unlink', SOURCES),
    refused('POST', '/dataset_sources/query', 'dataset_sources_query', SOURCES),
    refused('POST', '/dataset_sources/source_datasets_query', 'source_datasets_query', SOURCES),
    refused('POST', '/actions/execute_batch', 'actions_execute_batch', ACTIONS),
    refused('POST', '/evaluations/rescore', 'evaluation_rescore', RESCORING),
    refused('POST', '/files/resolve_url', 'files_resolve_url', FILE_URLS),
    {
      ...refused('PUT', '/v2/{entity}/{project}/runtimes/{runtime_name}', 'runtime_apply', RUNTIMES),
      pathParams: RuntimePath,
    },
  ]
}

function refused(method: Route['method'], path: string, operationId: string, reason: string): Route {
  return route({
    method,
    path,
    operationId,
    summary: `Not supported. ${reason}`,
    unsupported: true,
    family: 'trace',
    access: 'any-key',
    reply: 'json',
    response: Nothing,
    handle: () => {
      throw notImplemented(reason)
    },
  })
}
