/**
 * The attributes of each convention by their meaning, in order of precedence: OpenTelemetry's for generative AI
 * (`gen_ai`), OpenInference (`input.value`, `llm`), OpenLLMetry (`traceloop`), Vercel's AI SDK (`ai`), MLflow, Google's
 * Agent Development Kit (`gcp.vertex.agent`), Pydantic AI and Logfire, OpenLIT, Sentry. Wire: the first that is present
 * counts.
 */

/** Inputs stay under the name of their attribute. */
export const INPUTS = [
  'ai.prompt',
  'gen_ai.prompt',
  'input.value',
  'mlflow.spanInputs',
  'gen_ai.input.messages',
  'gen_ai.tool.call.arguments',
  'pydantic_ai.all_messages',
  'traceloop.entity.input',
  'gcp.vertex.agent.tool_call_args',
  'gcp.vertex.agent.llm_request',
  'input',
  'inputs',
  'ai.toolCall.args',
  'gen_ai.retrieval.query.text',
]

/** Outputs stay under the name of their attribute. */
export const OUTPUTS = [
  'ai.response',
  'gen_ai.completion',
  'output.value',
  'gen_ai.output.messages',
  'gen_ai.tool.call.result',
  'mlflow.spanOutputs',
  'final_result',
  'gen_ai.content.completion',
  'traceloop.entity.output',
  'gcp.vertex.agent.tool_response',
  'gcp.vertex.agent.llm_response',
  'output',
  'outputs',
  'ai.toolCall.result',
  'gen_ai.retrieval.documents',
]

/** Under what names usage is counted. */
export const USAGE = {
  input_tokens: [
    'gen_ai.usage.input_tokens',
    'ai.usage.inputTokens',
    'mlflow.chat.tokenUsage.input_tokens',
    // Of embeddings, which have no other tokens.
    'ai.usage.tokens',
  ],
  prompt_tokens: ['gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'ai.usage.promptTokens'],
  completion_tokens: [
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'ai.usage.completionTokens',
  ],
  output_tokens: [
    'gen_ai.usage.output_tokens',
    'ai.usage.outputTokens',
    'mlflow.chat.tokenUsage.output_tokens',
  ],
  total_tokens: [
    'llm.usage.total_tokens',
    'llm.token_count.total',
    'ai.usage.totalTokens',
    'mlflow.chat.tokenUsage.total_tokens',
  ],
  // All of these count cached tokens among those of the input, as prices do (`costs/usage-costs.ts`). The AI SDK does
  // so since it has the details.
  cache_creation_input_tokens: [
    'gen_ai.usage.cache_creation.input_tokens',
    'llm.token_count.prompt_details.cache_write',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.input_tokens.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
    'mlflow.chat.tokenUsage.cache_creation_input_tokens',
  ],
  cache_read_input_tokens: [
    'gen_ai.usage.cache_read.input_tokens',
    'llm.token_count.prompt_details.cache_read',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.input_tokens.cached',
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'mlflow.chat.tokenUsage.cache_read_input_tokens',
  ],
}

/** Members of `attributes` for which conventions have different names. */
export const ATTRIBUTES = {
  system: ['gen_ai.system_instructions', 'gen_ai.system', 'llm.system'],
  kind: ['weave.span.kind', 'traceloop.span.kind', 'openinference.span.kind'],
  model: ['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name', 'ai.model.id'],
  provider: ['gen_ai.provider.name', 'llm.provider', 'ai.model.provider'],
  model_parameters: ['gen_ai.request', 'llm.invocation_parameters'],
  operation_name: ['gen_ai.operation.name'],
  response_id: ['gen_ai.response.id'],
  finish_reasons: ['gen_ai.response.finish_reasons'],
  agent_name: ['gen_ai.agent.name'],
  agent_id: ['gen_ai.agent.id'],
  tool_name: ['ai.toolCall.name'],
}

/**
 * What operation of the AI SDK a span is: a whole one, such as `ai.streamText`, or a request of it,
 * `ai.streamText.doStream`.
 */
export const AI_SDK_OPERATION = ['ai.operationId']

/** The session of OpenInference, which every span of a trace has. */
const SESSION = 'session.id'

/** The thread of a call. */
export const THREAD = ['gen_ai.conversation.id', 'gcp.vertex.agent.session_id', 'wandb.thread_id', SESSION]

/** Marks a call as a turn of its thread; the id of a conversation implies it. */
export const IS_TURN = ['gen_ai.conversation.id', 'gcp.vertex.agent.session_id', 'wandb.is_turn']

/**
 * What a root span has, all of it, that is a turn of its thread: threads without a turn are not listed. Spans of
 * browsers have a session too, but are no turns.
 */
export const IS_TURN_AS_ROOT = [SESSION, 'openinference.span.kind']
