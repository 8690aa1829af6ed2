import type { JsonText } from '../../src/json/lossless-json.ts'

/** A JSON value as the browser holds it; a bigint is an integer that no number represents. */
export type Json = string | number | bigint | boolean | null | Json[] | { [key: string]: Json | undefined }

/**
 * What a wire type is once it has come over the wire: the server keeps payloads as text, the browser gets their values.
 */
export type OnWire<T> = T extends JsonText
  ? Json
  : T extends readonly (infer Item)[]
    ? OnWire<Item>[]
    : T extends object
      ? { [Key in keyof T]: OnWire<T[Key]> }
      : T
