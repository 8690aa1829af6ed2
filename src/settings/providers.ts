import { z } from 'zod'
import { jsonSetting } from './read-setting.ts'
import { refuseProblems, type SettingProblem } from './setting-problems.ts'

/** An external service that speaks OpenAI's API and may answer completions. */
export interface Provider {
  baseUrl: string
  /** Absent for services that ask for none. */
  apiKey: string | undefined
}

/** By the name that stands before the model's, as in `openai/gpt-4o-mini`. */
export type Providers = ReadonlyMap<string, Provider>

/** The provider of model names that have no prefix. */
export const DEFAULT_PROVIDER = 'openai'

const SETTING = 'HEDDLE_PROVIDERS'

const OPENAI_URL = 'https://api.openai.com/v1'

/** A name is a part of a model's, so it has no slash and no colon. */
const ProviderName = z.string().regex(/^[\w.-]+$/, { error: 'names have letters, digits, _, . and - only' })

const ProviderSettings = z
  .strictObject({
    base_url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    api_key: z.string().min(1).optional(),
    api_key_env: z.string().min(1).optional(),
  })
  .refine((settings) => settings.api_key === undefined || settings.api_key_env === undefined, {
    error: 'has api_key and api_key_env, of which one is enough',
  })

const AllSettings = z.record(ProviderName, ProviderSettings)

/** What the environment says of providers. */
export interface ProvidersSetting {
  providers: Providers
  /** The variables that hold their keys. */
  keyVariables: string[]
}

/**
 * The providers of HEDDLE_PROVIDERS, which is JSON or the path of a file with it, and OpenAI where OPENAI_API_KEY is
 * set and OpenAI is not configured otherwise.
 * @throws Error that names what is wrong; never with a key in it.
 */
export function readProviders(env: NodeJS.ProcessEnv): ProvidersSetting {
  const providers = new Map<string, Provider>()
  if (env['OPENAI_API_KEY']) {
    providers.set(DEFAULT_PROVIDER, { baseUrl: OPENAI_URL, apiKey: env['OPENAI_API_KEY'] })
  }
  const given = jsonSetting(SETTING, env[SETTING], AllSettings)
  const unset: SettingProblem[] = []
  for (const [name, { base_url, api_key, api_key_env }] of Object.entries(given)) {
    const apiKey = api_key_env === undefined ? api_key : env[api_key_env]
    if (api_key_env !== undefined && !apiKey) unset.push([SETTING, `${name}: ${api_key_env} is not set`])
    providers.set(name, { baseUrl: base_url, apiKey })
  }
  refuseProblems(unset)
  const keyVariables = Object.values(given).flatMap(({ api_key_env }) => api_key_env ?? [])
  return { providers, keyVariables }
}
