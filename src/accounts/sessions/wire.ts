import { z } from 'zod'

const EntityOfCaller = z.object({
  name: z.string(),
  role: z.enum(['viewer', 'member', 'admin']),
})

export const MeRes = z
  .object({
    auth: z.enum(['local', 'keys']).meta({ description: 'local: any key is accepted' }),
    user: z.string(),
    default_entity: z.string(),
    is_operator: z.boolean(),
    entities: z.array(EntityOfCaller),
    single_sign_on: z.boolean().meta({ description: 'Whether people can sign in through OpenID Connect' }),
  })
  .meta({ id: 'Me' })
export type MeRes = z.input<typeof MeRes>

export const MeChangeReq = z.strictObject({
  default_entity: z
    .string()
    .meta({ description: 'One that you belong to, which requests that name none are about from now on' }),
})
export type MeChangeReq = z.output<typeof MeChangeReq>

export const SignInOptionsRes = z.object({
  auth: z.enum(['local', 'keys']),
  single_sign_on: z.boolean(),
})
export type SignInOptionsRes = z.input<typeof SignInOptionsRes>

export const SignInReq = z.strictObject({
  token: z.string().max(512).optional().meta({ description: 'Of a sign-in link, which works once' }),
  key: z.string().max(512).optional().meta({ description: 'An API key of the user without limits' }),
})
export type SignInReq = z.output<typeof SignInReq>

export const SignInRes = z.object({ user: z.string(), expires_at: z.string() })
export type SignInRes = z.input<typeof SignInRes>

export const SignOutRes = z.object({ signed_out: z.literal(true) })
