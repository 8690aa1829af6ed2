import { ClientError } from '../errors.ts'

/** 503: a model answered something that cannot be used. */
export class BadAnswer extends ClientError {
  constructor(message: string, cause?: unknown) {
    super(503, 'ServiceUnavailableError', message, { cause })
  }
}
