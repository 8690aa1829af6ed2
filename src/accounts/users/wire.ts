import { z } from 'zod'
import { pageOf, StrictPageQuery } from '../../wire/page-wire.ts'

export const User = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    kind: z.enum(['person', 'service']),
    is_operator: z.boolean(),
    created_at: z.string(),
    disabled_at: z.string().nullable(),
  })
  .meta({ id: 'User' })
export type User = z.input<typeof User>

export const UserCreateReq = z.strictObject({
  name: z.string(),
  email: z.email().max(254).nullish(),
  is_operator: z.boolean().default(false),
})
export type UserCreateReq = z.output<typeof UserCreateReq>

export const UserCreateRes = User.extend({
  sign_in_url: z.string().meta({ description: 'Signs the user in once, within two days' }),
}).meta({ id: 'NewUser' })
export type UserCreateRes = z.input<typeof UserCreateRes>

export const UsersQuery = StrictPageQuery
export type UsersQuery = z.output<typeof UsersQuery>
export const UsersRes = pageOf(User).meta({ id: 'UserPage' })
export type UsersRes = z.input<typeof UsersRes>

export const UserPath = z.object({ user: z.string() })
export type UserPath = z.output<typeof UserPath>

export const UserChangeReq = z.strictObject({
  is_operator: z.boolean().optional(),
  disabled: z
    .boolean()
    .optional()
    .meta({ description: 'Refuses the keys and ends the sessions of the user' }),
})
export type UserChangeReq = z.output<typeof UserChangeReq>

export const SignInLinkRes = z.object({ sign_in_url: z.string() })
export type SignInLinkRes = z.input<typeof SignInLinkRes>
