import { z } from 'zod'
import { JsonNumber } from '../../json/lossless-json.ts'
import { recordOf } from '../../wire/bounded-wire.ts'
import { AgentDashboard } from './agent-dashboard.ts'
import { AnyObject, Float, Integer, model, optional } from './stored-model.ts'
import { StoredCallsFilter, StoredQuery, StoredSortBy } from './stored-query.ts'

/** Columns, names or headers of one object: more than a page shows. */
const MEMBERS_MAX = 10_000

/** Fields and bases of every object of a builtin class. */
const named = { name: optional(z.string()), description: optional(z.string()) }
const isObject = { bases: ['BaseObject'] } as const

const OptionalString = optional(z.string())
const OptionalStrings = optional(z.array(z.string()))

const Leaderboard = model(
  'Leaderboard',
  {
    ...named,
    columns: z.array(
      model('LeaderboardColumn', {
        evaluation_object_ref: z.string(),
        scorer_name: z.string(),
        summary_metric_path: z.string(),
        should_minimize: optional(z.boolean()),
      }),
    ),
  },
  isObject,
)

const SchemaType = z.enum(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

/** Only schemas that could never be used are refused here; payloads are checked against all of it. */
const JsonSchema = AnyObject.refine(
  ({ type }) => type === undefined || SchemaType.or(z.array(SchemaType).min(1)).safeParse(type).success,
  'Must be a JSON schema',
)

const AnnotationSpec = model(
  'AnnotationSpec',
  {
    ...named,
    field_schema: JsonSchema.default({}),
    unique_among_creators: z.boolean().default(false),
    op_scope: OptionalStrings,
  },
  isObject,
)

const Threshold = model('WeaveMetricThresholdSpec', {
  alert_condition: z.string().default('THRESHOLD'),
  source_type: z.enum(['calls', 'spans']).default('calls'),
  comparison_operator: z.enum(['GREATER_THAN', 'LESS_THAN', 'EQUAL']).default('GREATER_THAN'),
  metric_path: z.string().default(''),
  op_str: z.string().default(''),
  threshold: Float.prefault(new JsonNumber('0')),
  window_size: optional(Integer),
  window_duration: optional(Integer),
  monitor_ref: OptionalString,
  scorer_ref: OptionalString,
  aggregation_function: z
    .enum(['mean', 'median', 'min', 'max', 'mode', 'percentage', 'count'])
    .default('mean'),
  status_match_value: OptionalString,
})

const AlertSpec = model(
  'AlertSpec',
  { ...named, op_scope: OptionalStrings, spec: Threshold.prefault({}) },
  isObject,
)

/** Only its form is checked: the hosts that a local server calls are often not on the public internet. */
const ProviderUrl = z.url({ protocol: /^https?$/ }).refine((url) => !/[?#]/.test(url), 'Must be a plain URL')

const Provider = model(
  'Provider',
  {
    ...named,
    base_url: ProviderUrl,
    api_key_name: z.string(),
    extra_headers: recordOf(z.string(), MEMBERS_MAX).default({}),
    return_type: z.literal('openai').default('openai'),
  },
  isObject,
)

const ProviderModel = model(
  'ProviderModel',
  { ...named, provider: z.string(), max_tokens: Integer },
  isObject,
)

const Message = model('Message', {
  role: z.string(),
  content: optional(z.union([z.string(), z.array(AnyObject)])),
  name: OptionalString,
  function_call: optional(AnyObject),
  tool_call_id: OptionalString,
})

const CompletionParams = model('LLMStructuredCompletionModelDefaultParams', {
  messages_template: optional(z.array(Message)),
  prompt: OptionalString,
  temperature: optional(Float),
  top_p: optional(Float),
  max_tokens: optional(Integer),
  presence_penalty: optional(Float),
  frequency_penalty: optional(Float),
  stop: OptionalStrings,
  n_times: optional(Integer),
  functions: optional(z.array(AnyObject)),
  response_format: optional(z.enum(['json_object', 'json_schema', 'text'])),
})

const LLMStructuredCompletionModel = model(
  'LLMStructuredCompletionModel',
  {
    ...named,
    ref: optional(z.never()),
    llm_model_id: z.string(),
    default_params: CompletionParams.prefault({}),
  },
  // Wire: the only one that derives from the client's own classes.
  { bases: ['Model', 'Object'], extras: 'refuse' },
)

const ComparisonView = model(
  'ComparisonView',
  {
    ...named,
    label: z.string(),
    definition: model('ComparisonViewDefinition', {
      evaluation_call_ids: z.array(z.string()),
      selected_metrics: OptionalStrings,
      column_visibility: optional(recordOf(z.boolean(), MEMBERS_MAX)),
    }),
  },
  isObject,
)

const ChartConfig = model('ChartConfig', {
  x_axis: z.string(),
  y_axis: z.string(),
  plot_type: optional(z.enum(['scatter', 'line', 'bar'])),
  bin_count: optional(Integer),
  aggregation: optional(z.enum(['average', 'sum', 'min', 'max', 'p95', 'p99'])),
  group_keys: OptionalStrings,
  custom_name: OptionalString,
})

const ObjectConfig = model('ObjectConfig', {
  version_groups: optional(
    z.array(
      model('ObjectVersionGroup', {
        label: z.string(),
        base_ref: z.string(),
        versions: z.union([z.array(z.string()), z.literal('*')]),
        show_version_indicator: z.boolean(),
      }),
    ),
  ),
  display_name_map: optional(recordOf(z.string(), MEMBERS_MAX)),
  deselected: OptionalStrings,
})

const DynamicLeaderboard = model('DynamicLeaderboardConfig', {
  model_configuration: optional(ObjectConfig),
  dataset_configuration: optional(ObjectConfig),
  scorer_configuration: optional(ObjectConfig),
  columns_configuration: optional(
    z.array(
      model('DynamicLeaderboardColumnConfig', {
        evaluation_object_ref: OptionalString,
        scorer_name: OptionalString,
        display_name: OptionalString,
        summary_metric_path: OptionalString,
        should_minimize: optional(z.boolean()),
        deselected: optional(z.boolean()),
      }),
    ),
  ),
})

const SavedView = model(
  'SavedView',
  {
    ...named,
    view_type: z.string(),
    label: z.string(),
    definition: model('SavedViewDefinition', {
      filter: optional(StoredCallsFilter),
      query: optional(StoredQuery),
      cols: optional(recordOf(z.boolean(), MEMBERS_MAX)),
      columns: optional(
        z.array(
          model('Column', { path: optional(z.array(z.union([z.string(), Integer]))), label: OptionalString }),
        ),
      ),
      column_order: OptionalStrings,
      expand_columns: OptionalStrings,
      header_depth: optional(Integer),
      pin: optional(model('Pin', { left: z.array(z.string()), right: z.array(z.string()) })),
      sort_by: optional(z.array(StoredSortBy)),
      page: optional(Integer),
      page_size: optional(Integer),
      charts: optional(z.array(ChartConfig)),
      dataset_selector: OptionalString,
      evaluation_selector: OptionalString,
      dynamic_leaderboard_config: optional(DynamicLeaderboard),
    }),
  },
  isObject,
)

const ActionSpec = model(
  'ActionSpec',
  {
    ...named,
    config: z.union([
      model('LlmJudgeActionConfig', {
        action_type: z.literal('llm_judge'),
        model: z.enum(['gpt-4o', 'gpt-4o-mini']),
        prompt: z.string(),
        response_schema: JsonSchema,
      }),
      model('ContainsWordsActionConfig', {
        action_type: z.literal('contains_words'),
        target_words: z.array(z.string()),
      }),
    ]),
  },
  isObject,
)

/** Classes that the service defines; values sent under their names become instances of them. */
export const BUILTIN_CLASSES: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['ActionSpec', ActionSpec],
  ['AgentDashboard', AgentDashboard],
  ['AlertSpec', AlertSpec],
  ['AnnotationSpec', AnnotationSpec],
  ['ChartConfig', ChartConfig],
  ['ComparisonView', ComparisonView],
  ['LLMStructuredCompletionModel', LLMStructuredCompletionModel],
  ['Leaderboard', Leaderboard],
  ['Provider', Provider],
  ['ProviderModel', ProviderModel],
  ['SavedView', SavedView],
])
