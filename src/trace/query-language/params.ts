/** Collects values that SQL refers to by placeholder, so that no value ever enters the text. */
export interface Params {
  /** Binds a value and returns its placeholder, such as `{v3:String}`. */
  bind(value: unknown, type: string): string
  /** Binds ids, none of which has a space, and returns SQL for their set. */
  bindIds(ids: readonly string[]): string
  values: Record<string, unknown>
}

export function createParams(): Params {
  const values: Record<string, unknown> = {}
  let bound = 0

  function bind(value: unknown, type: string): string {
    const name = `v${bound++}`
    values[name] = value
    return `{${name}:${type}}`
  }

  return {
    values,
    bind,
    // One text, because an array of some thousand literals takes longer to parse than to look for.
    bindIds: (ids) => `(SELECT arrayJoin(splitByChar(' ', ${bind(ids.join(' '), 'String')})))`,
  }
}
