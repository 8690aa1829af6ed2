import { SIGN_IN_ERRORS, type SignInErrorCode } from './sign-in-errors-wire.ts'

/** Why a person is not signed in; the person is shown the code's message. */
export class SignInError extends Error {
  readonly code: SignInErrorCode

  constructor(code: SignInErrorCode, cause?: unknown) {
    super(SIGN_IN_ERRORS[code], { cause })
    this.code = code
  }
}
