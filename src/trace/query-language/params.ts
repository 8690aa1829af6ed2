/** Collects values that SQL refers to by placeholder, so that no value ever enters the text. */
export interface Params {
  /** Binds a value and returns its placeholder, such as `{v3:String}`. */
  bind(value: unknown, type: string): string
  values: Record<string, unknown>
}

export function createParams(): Params {
  const values: Record<string, unknown> = {}
  let bound = 0
  return {
    values,
    bind(value, type) {
      const name = `v${bound++}`
      values[name] = value
      return `{${name}:${type}}`
    },
  }
}
