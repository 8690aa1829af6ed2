import { type ClientError, invalidRequest } from '../../errors.ts'

/** 400: no adapter stores a text with U+0000. */
export function textRefused(): ClientError {
  return invalidRequest('Texts must not have U+0000')
}
