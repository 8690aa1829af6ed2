import { ClientError } from '../../errors.ts'

/**
 * 503: a model answered something that cannot be used. Asked again it often repeats that, and each answer is paid for.
 */
export class BadAnswer extends ClientError {
  constructor(message: string, cause?: unknown) {
    super(503, 'ServiceUnavailableError', message, { cause })
  }
}

/**
 * 503: a model was asked, and no whole answer came: its provider failed, broke off or took too long. It may answer a
 * moment later.
 */
export class NoAnswer extends ClientError {
  constructor(message: string, options: { cause?: unknown; retryAfterSeconds?: number | undefined } = {}) {
    const { cause, retryAfterSeconds } = options
    super(503, 'ServiceUnavailableError', message, {
      cause,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
  }
}

/** 503: no whole answer came until the deadline of the question. To ask again at once may take as long again. */
export class TooLate extends NoAnswer {}
