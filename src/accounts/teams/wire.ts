import { z } from 'zod'

export const Role = z.enum(['viewer', 'member', 'admin'])

export const Team = z
  .object({ name: z.string(), kind: z.enum(['team', 'personal']), created_at: z.string() })
  .meta({ id: 'Team' })
export type Team = z.input<typeof Team>

export const TeamCreateReq = z.strictObject({
  name: z.string(),
  admin: z.string().nullish().meta({ description: 'The user who manages it; by default the caller' }),
})
export type TeamCreateReq = z.output<typeof TeamCreateReq>

export const TeamsQuery = z.strictObject({
  after: z.string().optional(),
  limit: z.int().min(1).max(100).default(100),
})
export type TeamsQuery = z.output<typeof TeamsQuery>
export const TeamsRes = z.object({ data: z.array(Team), has_more: z.boolean() }).meta({ id: 'TeamPage' })
export type TeamsRes = z.input<typeof TeamsRes>

export const TeamPath = z.object({ entity: z.string() })
export type TeamPath = z.output<typeof TeamPath>

export const Member = z
  .object({
    user: z.string(),
    email: z.string().nullable().meta({ description: 'Null for callers who are no operators' }),
    kind: z.enum(['person', 'service']),
    role: Role,
    disabled: z.boolean(),
  })
  .meta({ id: 'Member' })
export type Member = z.input<typeof Member>
export const MembersRes = z.object({ data: z.array(Member) }).meta({ id: 'Members' })
export type MembersRes = z.input<typeof MembersRes>

export const MemberPath = z.object({ entity: z.string(), user: z.string() })
export type MemberPath = z.output<typeof MemberPath>
export const MemberReq = z.strictObject({ role: Role })
export type MemberReq = z.output<typeof MemberReq>
export const MemberRemoveRes = z.object({ removed: z.boolean() })
export type MemberRemoveRes = z.input<typeof MemberRemoveRes>

export const ServiceAccountReq = z.strictObject({ name: z.string(), role: Role.default('member') })
export type ServiceAccountReq = z.output<typeof ServiceAccountReq>
