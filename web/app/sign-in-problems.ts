/** Why the provider's sign-in failed, by the code in the address that the server sends the browser to. */
const PROBLEMS: Record<string, string> = {
  unavailable: 'The sign-in provider cannot be reached. Try again later.',
  denied: 'The sign-in was cancelled at the provider.',
  expired: 'This sign-in took too long, or was begun in another browser. Begin again.',
  invalid: 'The sign-in provider gave an answer that is not valid. The log of the server says why.',
  clock: 'The clocks of the sign-in provider and of this server differ too much.',
  no_account: 'You have no account on this server. Ask an operator for one.',
  mail_taken: 'Your mail address belongs to another account. Ask an operator of this server.',
  disabled: 'Your account is disabled.',
}

/** The reason in the address of the sign-in page, `?error=CODE`; undefined where there is none. */
export function signInProblem(search: string): string | undefined {
  const code = new URLSearchParams(search).get('error')
  if (code === null) return undefined
  return PROBLEMS[code] ?? 'The sign-in at the provider failed. Try again.'
}
