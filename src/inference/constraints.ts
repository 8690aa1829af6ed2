import { z } from 'zod'
import type { JsonText } from '../json/lossless-json.ts'
import { limitGrammar, limitRegex, limitSchema, limitSchemaText, limitTexts } from './constraint-limits.ts'
import type { samplingFields } from './sampling-wire.ts'

type Constraints = Pick<
  z.output<z.ZodObject<typeof samplingFields>>,
  'response_format' | 'structured_outputs'
>

/** @throws 400 for a constraint that would keep the engine from other requests. */
export function limitConstraints({ response_format, structured_outputs }: Constraints): void {
  if (response_format != null) limitSchema(response_format.value(), 'response_format')
  const { json, regex, choice, grammar, structural_tag } = structured_outputs ?? {}
  const schema = json?.value()
  if (typeof schema === 'string') limitSchemaText(schema, 'structured_outputs.json')
  else limitSchema(schema, 'structured_outputs.json')
  if (regex != null) limitRegex(regex, 'structured_outputs.regex')
  if (choice != null) limitTexts(choice, 'structured_outputs.choice', 'choice')
  if (grammar != null) limitGrammar(grammar, 'structured_outputs.grammar')
  if (structural_tag != null) limitSchemaText(structural_tag, 'structured_outputs.structural_tag')
}

interface ToolUse {
  tools?: JsonText[] | null | undefined
  tool_choice?: string | object | null | undefined
}

/** The same with how many may be called at once. */
export interface ToolCalling extends ToolUse {
  parallel_tool_calls?: boolean | null | undefined
}

const Tool = z.object({
  function: z.object({ parameters: z.unknown().optional(), strict: z.boolean().nullish().catch(null) }),
})

/**
 * Wire: the engine constrains the arguments of strict tools, and of all tools when one must be called.
 * @throws 400 like `limitConstraints`
 */
export function limitTools(use: ToolUse): void {
  limitSchema(
    constrainedTools(use).map(({ parameters }) => parameters),
    'tools',
  )
}

/**
 * Wire: whether the engine constrains calls of some tool: their arguments, or with `parallel_tool_calls: false` their
 * number.
 */
export function constrainsTools(use: ToolCalling): boolean {
  const { tools, tool_choice, parallel_tool_calls } = use
  const isSingle = parallel_tool_calls === false && tool_choice !== 'none' && (tools ?? []).length > 0
  return isSingle || constrainedTools(use).length > 0
}

function constrainedTools({ tools, tool_choice }: ToolUse): z.output<typeof Tool>['function'][] {
  if (tool_choice === 'none') return []
  const isForced = tool_choice != null && tool_choice !== 'auto'
  return (tools ?? [])
    .flatMap((tool) => Tool.safeParse(tool.value()).data?.function ?? [])
    .filter(({ strict }) => isForced || strict === true)
}
