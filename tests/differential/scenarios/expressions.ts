/** Operands and operations of the query language. */
export const field = (name: string) => ({ $getField: name })
export const literal = (value: unknown) => ({ $literal: value })
export const convert = (name: string, to: string) => ({ $convert: { input: field(name), to } })
export const expression = (operation: unknown) => ({ $expr: operation })

/** A field against a value. */
export const compare = (operator: string, name: string, value: unknown) =>
  expression({ [operator]: [field(name), literal(value)] })
