import { SIGN_IN_ERRORS } from '../../src/accounts/oidc/sign-in-errors-wire.ts'

const PROBLEMS: Record<string, string> = SIGN_IN_ERRORS

/**
 * Why the provider did not sign the person in, from the address of the sign-in page; undefined where it did not try.
 */
export function signInProblem(search: string): string | undefined {
  const code = new URLSearchParams(search).get('error')
  if (code === null) return undefined
  return PROBLEMS[code] ?? 'The sign-in at the provider failed. Try again.'
}
