import { notImplemented } from '../../errors.ts'
import { type Route, route } from '../../http/route.ts'
import { Nothing } from './wire.ts'

const AGENTS = 'Spans of agents are not kept: trace them as calls'
const SOURCES = 'Where the rows of a dataset come from is not kept'

/** Parts of the wire that this server does not do: an answer that says so is clearer than a missing page. */
export function unsupportedRoutes(): Route[] {
  return [
    refused({ method: 'POST', path: '/agents/query', operationId: 'agents_query' }, AGENTS),
    refused({ method: 'POST', path: '/agents/search', operationId: 'agents_search' }, AGENTS),
    refused(
      { method: 'POST', path: '/agents/agent-versions/query', operationId: 'agent_versions_query' },
      AGENTS,
    ),
    refused(
      { method: 'POST', path: '/agents/conversations/chat', operationId: 'agent_conversation_chat' },
      AGENTS,
    ),
    refused(
      { method: 'POST', path: '/agents/conversations/spans', operationId: 'agent_conversation_spans' },
      AGENTS,
    ),
    refused({ method: 'POST', path: '/agents/spans/query', operationId: 'agent_spans_query' }, AGENTS),
    refused({ method: 'POST', path: '/agents/spans/stats', operationId: 'agent_spans_stats' }, AGENTS),
    refused(
      { method: 'POST', path: '/agents/spans/custom-attrs/schema', operationId: 'agent_spans_schema' },
      AGENTS,
    ),
    refused({ method: 'POST', path: '/agents/traces/chat', operationId: 'agent_trace_chat' }, AGENTS),
    refused({ method: 'POST', path: '/dataset_sources/link', operationId: 'dataset_sources_link' }, SOURCES),
    refused(
      { method: 'POST', path: '/dataset_sources/link_delete', operationId: 'dataset_sources_unlink' },
      SOURCES,
    ),
    refused(
      { method: 'POST', path: '/dataset_sources/query', operationId: 'dataset_sources_query' },
      SOURCES,
    ),
    refused(
      {
        method: 'POST',
        path: '/dataset_sources/source_datasets_query',
        operationId: 'source_datasets_query',
      },
      SOURCES,
    ),
    refused(
      { method: 'POST', path: '/actions/execute_batch', operationId: 'actions_execute_batch' },
      'Actions are not executed on the server',
    ),
    refused(
      { method: 'POST', path: '/evaluations/rescore', operationId: 'evaluation_rescore' },
      'Evaluations are not scored on the server: evaluate again with the new scorers',
    ),
    refused(
      { method: 'POST', path: '/files/resolve_url', operationId: 'files_resolve_url' },
      'Files lie in the server itself, not at an address of their own: read them with /file/content',
    ),
    refused(
      { method: 'PUT', path: '/v2/{entity}/{project}/runtimes/{runtime_name}', operationId: 'runtime_apply' },
      'Runtimes of others are not called: the models of this server are',
    ),
  ]
}

function refused(endpoint: Pick<Route, 'method' | 'path' | 'operationId'>, reason: string): Route {
  return route({
    ...endpoint,
    family: 'trace',
    reply: 'json',
    response: Nothing,
    handle: () => {
      throw notImplemented(reason)
    },
  })
}
