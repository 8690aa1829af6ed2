/** Collects values that SQL refers to by placeholder, so that no value ever enters the text. */
export interface Params {
  /** Binds a value and returns its placeholder, such as `{v3:String}`. */
  bind(value: unknown, type: string): string
  values: Record<string, unknown>
}

export function createParams(): Params {
  const values: Record<string, unknown> = {}
  return {
    values,
    bind(value, type) {
      const name = `v${Object.keys(values).length}`
      values[name] = value
      return `{${name}:${type}}`
    },
  }
}
