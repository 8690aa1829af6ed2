import { z } from 'zod'
import { LOOPBACK } from './hosts-setting.ts'
import { jsonSetting, settingProblem, textSetting } from './json-setting.ts'

/** What a group of the provider gives to its members. */
export type GroupGrant = { entity: string; role: 'viewer' | 'member' | 'admin' } | { operator: true }

/** How people sign in through a provider of OpenID Connect. */
export interface SingleSignOn {
  issuer: string
  clientId: string
  /** Absent for a public client, which PKCE alone protects. */
  clientSecret: string | undefined
  /** Separated by spaces. */
  scopes: string
  /** The claim that lists a person's groups. */
  groupsClaim: string
  /** By the provider's name of the group. */
  groups: ReadonlyMap<string, readonly GroupGrant[]>
  /** Whether people who have no user get one. */
  signUp: boolean
}

/**
 * Names of teams in which groups of the provider grant roles. They are reserved: no user or service account may have
 * one.
 */
export function grantedTeams(settings: Pick<SingleSignOn, 'groups'> | undefined): ReadonlySet<string> {
  const grants = [...(settings?.groups.values() ?? [])].flat()
  return new Set(grants.flatMap((grant) => ('entity' in grant ? [grant.entity] : [])))
}

const Grant = z.union([
  z.strictObject({ entity: z.string().min(1), role: z.enum(['viewer', 'member', 'admin']) }),
  z.strictObject({ operator: z.literal(true) }),
])

const Groups = z.record(
  z.string(),
  z.union([Grant, z.array(Grant)], {
    error: 'a grant is {"entity", "role"} or {"operator": true}, or a list of these',
  }),
)

/** Tokens and secrets go to the issuer, so only what stays on this machine may be unencrypted. */
const Issuer = z
  .url({ protocol: /^https?$/ })
  .refine((url) => url.startsWith('https:') || LOOPBACK.test(new URL(url).hostname), {
    error: 'https, except on this machine',
  })

const Settings = z.object({
  HEDDLE_OIDC_ISSUER: Issuer.optional(),
  HEDDLE_OIDC_CLIENT_ID: z.string().min(1).optional(),
  HEDDLE_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  HEDDLE_OIDC_CLIENT_SECRET_FILE: z.string().optional(),
  HEDDLE_OIDC_SCOPES: z
    .string()
    .refine((scopes) => scopes.split(/\s+/).includes('openid'), { error: 'openid is one of them' })
    .default('openid profile email'),
  HEDDLE_OIDC_GROUPS: z.string().optional(),
  HEDDLE_OIDC_GROUPS_CLAIM: z.string().min(1).default('groups'),
  HEDDLE_OIDC_SIGN_UP: z.stringbool().default(false),
})

/**
 * The sign-in provider; undefined where none is named.
 * @throws Error that names what is wrong; never with a secret in it.
 */
export function readSingleSignOn(env: NodeJS.ProcessEnv): SingleSignOn | undefined {
  const parsed = Settings.safeParse(env)
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new Error(`Bad configuration:\n  ${lines.join('\n  ')}`)
  }
  const values = parsed.data
  const { HEDDLE_OIDC_ISSUER: issuer, HEDDLE_OIDC_CLIENT_ID: clientId } = values
  if (issuer === undefined) {
    const other = Object.keys(Settings.shape).find((name) => env[name] !== undefined)
    if (other !== undefined) throw settingProblem(other, 'needs HEDDLE_OIDC_ISSUER')
    return undefined
  }
  if (clientId === undefined) throw settingProblem('HEDDLE_OIDC_CLIENT_ID', 'is not set')
  if (env['HEDDLE_AUTH'] !== 'keys') throw settingProblem('HEDDLE_OIDC_ISSUER', 'needs HEDDLE_AUTH=keys')
  return {
    issuer,
    clientId,
    clientSecret: clientSecretOf(values),
    scopes: values.HEDDLE_OIDC_SCOPES,
    groupsClaim: values.HEDDLE_OIDC_GROUPS_CLAIM,
    groups: groupsOf(values.HEDDLE_OIDC_GROUPS),
    signUp: values.HEDDLE_OIDC_SIGN_UP,
  }
}

function clientSecretOf(values: z.output<typeof Settings>): string | undefined {
  const { HEDDLE_OIDC_CLIENT_SECRET: secret, HEDDLE_OIDC_CLIENT_SECRET_FILE: file } = values
  if (file === undefined) return secret
  if (secret !== undefined)
    throw settingProblem(
      'HEDDLE_OIDC_CLIENT_SECRET_FILE',
      'HEDDLE_OIDC_CLIENT_SECRET is set as well, of which one is enough',
    )
  return textSetting('HEDDLE_OIDC_CLIENT_SECRET_FILE', file, { charsMin: 1 })
}

function groupsOf(setting: string | undefined): SingleSignOn['groups'] {
  const text = setting?.trim()
  const parsed = Groups.safeParse(text ? jsonSetting('HEDDLE_OIDC_GROUPS', text) : {})
  if (!parsed.success)
    throw settingProblem(
      'HEDDLE_OIDC_GROUPS',
      ...parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
    )
  return new Map(Object.entries(parsed.data).map(([group, grants]) => [group, [grants].flat()]))
}
