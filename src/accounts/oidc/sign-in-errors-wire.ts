/** Why somebody was not signed in, by the code in the address of the sign-in page, `/sign-in?error=CODE`. */
export const SIGN_IN_ERRORS = {
  unavailable: 'The sign-in provider cannot be reached. Try again later.',
  denied: 'The sign-in was cancelled at the provider.',
  expired: 'This sign-in was not begun in this browser, took too long or was used before. Begin again.',
  invalid: 'The sign-in provider gave an answer that is not valid. The server has logged why.',
  clock: 'The clocks of the sign-in provider and of this server differ too much.',
  no_account: 'You have no account here. Ask an operator of this server for one.',
  mail_taken: 'Another account has your mail address. Ask an operator of this server.',
  disabled: 'Your account is disabled.',
} as const
export type SignInErrorCode = keyof typeof SIGN_IN_ERRORS
