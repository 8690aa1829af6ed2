import { z } from 'zod'
import { JsonText } from '../json/lossless-json.ts'

/** Marks, in a JSON schema, what is kept as text. */
export const JSON_TEXT_MARK = 'x-json-text'

/** Any JSON value, kept as the client's own text. */
export const AnyJson = z
  .custom<JsonText>((value) => value instanceof JsonText)
  .meta({ [JSON_TEXT_MARK]: true })

/** A JSON object, kept as the client's own text. */
export const JsonObject = z
  .custom<JsonText>((value) => value instanceof JsonText && value.text.startsWith('{'), {
    error: 'Input should be a valid dictionary',
    params: { type: 'dict_type' },
  })
  .meta({ [JSON_TEXT_MARK]: true, type: 'object' })
