import { z } from 'zod'

/** What usage can be split by, in the order of the reply's rows. */
export const DIMENSIONS = ['hour', 'entity', 'project', 'model', 'step', 'key'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** A project is named by its entity and its name: two entities may have projects of the same name. */
function withEntity(dimensions: readonly Dimension[]): Dimension[] {
  return dimensions.includes('project') ? ['entity', ...dimensions] : [...dimensions]
}

const When = z.iso.datetime({ offset: true })

export const UsageQuery = z.strictObject({
  group_by: z
    .string()
    .default('project,model')
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(DIMENSIONS)))
    .transform(withEntity)
    .meta({
      type: 'string',
      description: `Any of ${DIMENSIONS.join(', ')}, separated by commas; with project, also by entity`,
    }),
  from: When.optional().meta({ description: 'Default: 30 days ago' }),
  before: When.optional().meta({ description: 'Default: now' }),
  entity: z.string().optional(),
  project: z.string().optional(),
  model: z.string().optional(),
  key: z.string().optional(),
})
export type UsageQuery = z.output<typeof UsageQuery>

const Group = z
  .object({
    hour: z.string().optional(),
    entity: z.string().optional(),
    project: z.string().optional(),
    model: z.string().optional().meta({ description: 'A base model, entity/project/name, or provider/name' }),
    step: z.int().nullable().optional().meta({ description: 'null for a base model' }),
    key: z.string().optional().meta({ description: 'The start of a hash of the key' }),
    requests: z.int(),
    requests_cut: z
      .int()
      .meta({ description: 'Ended before the engine had counted their tokens, which are estimated' }),
    prompt_tokens: z.int(),
    cached_tokens: z.int(),
    completion_tokens: z.int(),
    reasoning_tokens: z.int(),
    total_tokens: z.int(),
    cost_usd: z.number().nullable().meta({ description: 'null where no price is known for any of it' }),
  })
  .meta({ id: 'UsageGroup' })
export type UsageGroup = z.input<typeof Group>

export const UsageRes = z
  .object({ object: z.literal('list'), from: z.string(), before: z.string(), data: z.array(Group) })
  .meta({ id: 'Usage' })
export type UsageRes = z.input<typeof UsageRes>
