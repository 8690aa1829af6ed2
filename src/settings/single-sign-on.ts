import { z } from 'zod'
import { LOOPBACK } from './hosts-setting.ts'
import { jsonSetting, textSetting, variableSettings } from './read-setting.ts'
import { readAll, refuseProblems, settingProblem } from './setting-problems.ts'

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
  .url({ protocol: /^https?$/, abort: true })
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
  const values = variableSettings(Settings, env)
  const { HEDDLE_OIDC_ISSUER: issuer, HEDDLE_OIDC_CLIENT_ID: clientId } = values
  if (issuer === undefined) {
    const others = Object.keys(Settings.shape).filter((name) => env[name] !== undefined)
    refuseProblems(others.map((name) => [name, 'needs HEDDLE_OIDC_ISSUER']))
    return undefined
  }
  if (clientId === undefined) throw settingProblem('HEDDLE_OIDC_CLIENT_ID', 'is not set')
  if (env['HEDDLE_AUTH'] !== 'keys') throw settingProblem('HEDDLE_OIDC_ISSUER', 'needs HEDDLE_AUTH=keys')
  return {
    issuer,
    clientId,
    ...readAll({
      clientSecret: () => clientSecretOf(values),
      groups: () => groupsOf(values.HEDDLE_OIDC_GROUPS),
    }),
    scopes: values.HEDDLE_OIDC_SCOPES,
    groupsClaim: values.HEDDLE_OIDC_GROUPS_CLAIM,
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
  const granted = jsonSetting('HEDDLE_OIDC_GROUPS', setting, Groups)
  return new Map(Object.entries(granted).map(([group, grants]) => [group, [grants].flat()]))
}
