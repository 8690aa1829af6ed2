import { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import { jsonSetting } from './read-setting.ts'
import { refuseProblems, type SettingProblem } from './setting-problems.ts'

/** Credentials of scorers behind a URL, by the names that clients publish. */
export interface ScorerSecrets {
  /** @throws 400 for an unknown name, or a URL that the secret is not for. */
  read(name: string, url: string): string
  /** The variables that hold them. */
  variables: string[]
}

/** What scorers behind a URL may reach. */
export interface RemoteScorerOptions {
  /** Hosts that need not have public addresses, in lower case, with `:port` where only that port is meant. */
  hosts: readonly string[]
  secrets: ScorerSecrets
}

const SETTING = 'HEDDLE_SCORER_SECRETS'

const Secrets = z.record(
  z.string(),
  z
    .strictObject({
      value: z.string().min(1).optional(),
      value_env: z.string().min(1).optional(),
      hosts: z.array(z.string().min(1)).min(1),
    })
    .refine(({ value, value_env }) => (value === undefined) !== (value_env === undefined), {
      error: 'needs one of value and value_env',
    }),
)

/**
 * The secrets of HEDDLE_SCORER_SECRETS, which is JSON or the path of a file with it. Each names the hosts that may have
 * it: the publisher of a scorer chooses its URL.
 * @throws Error that names what is wrong; never with a secret in it.
 */
export function readScorerSecrets(env: NodeJS.ProcessEnv): ScorerSecrets {
  const given = jsonSetting(SETTING, env[SETTING], Secrets)
  const secrets = new Map<string, { value: string; hosts: string[] }>()
  const unset: SettingProblem[] = []
  for (const [name, { value, value_env, hosts }] of Object.entries(given)) {
    const secret = value_env === undefined ? value : env[value_env]
    if (secret) secrets.set(name, { value: secret, hosts: hosts.map((host) => host.toLowerCase()) })
    else unset.push([SETTING, `${name}: ${value_env} is not set`])
  }
  refuseProblems(unset)
  return {
    read(name, url) {
      const secret = secrets.get(name)
      if (secret === undefined) throw invalidRequest(`No secret ${name} here: ${SETTING} names them`)
      const { hostname, host } = new URL(url)
      if (!secret.hosts.includes(hostname) && !secret.hosts.includes(host))
        throw invalidRequest(`The secret ${name} is not for ${host}: ${SETTING} says for which hosts it is`)
      return secret.value
    },
    variables: Object.values(given).flatMap(({ value_env }) => value_env ?? []),
  }
}
