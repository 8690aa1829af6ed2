import { z } from 'zod'
import { pageOf, StrictPageQuery } from '../../wire/page-wire.ts'

/** The receipt of an erasure. */
export const Erasure = z
  .object({
    id: z.string(),
    kind: z.enum(['project', 'entity', 'user']),
    entity: z.string().nullable(),
    subject: z.string().meta({ description: 'What was erased; for a user, the name that stands for it now' }),
    requested_by: z.string(),
    key_id: z.string(),
    with_data: z.boolean().meta({ description: 'Whether what a user wrote is erased too' }),
    requested_at: z.string(),
    state: z.enum(['running', 'done']),
    unreadable_at: z
      .string()
      .nullable()
      .meta({ description: 'From when on no request could read any of it' }),
    erased_at: z.string().nullable().meta({ description: 'When its last row was deleted' }),
    gone_at: z.string().nullable().meta({ description: 'When no file of the data folder had it any more' }),
    amounts: z
      .array(z.object({ kind: z.string(), count: z.int(), bytes: z.int() }))
      .meta({ description: 'What there was when the erasure began; bytes before compression' }),
  })
  .meta({ id: 'Erasure' })
export type Erasure = z.output<typeof Erasure>

export const ProjectErasePath = z.object({ entity: z.string(), project: z.string() })
export type ProjectErasePath = z.output<typeof ProjectErasePath>
export const EntityErasePath = z.object({ entity: z.string() })
export type EntityErasePath = z.output<typeof EntityErasePath>
export const UserErasePath = z.object({ user: z.string() })
export type UserErasePath = z.output<typeof UserErasePath>

export const UserEraseQuery = z.strictObject({
  data: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'Erases calls, feedback and objects that the user wrote, and the own projects' }),
})
export type UserEraseQuery = z.output<typeof UserEraseQuery>

export const ErasuresQuery = StrictPageQuery
export type ErasuresQuery = z.output<typeof ErasuresQuery>
export const ErasuresRes = pageOf(Erasure).meta({ id: 'ErasurePage' })
export type ErasuresRes = z.output<typeof ErasuresRes>
export const ErasurePath = z.object({ id: z.string() })
export type ErasurePath = z.output<typeof ErasurePath>
