/** Collects values that SQL refers to by placeholder, so that no value ever enters the text. */
export interface Params {
  /** Binds a value and returns its placeholder, such as `{v3:String}`. */
  bind(value: unknown, type: string): string
  /** Binds ids, none of which has a space, and returns SQL for their set. */
  bindIds(ids: readonly string[]): string
  values: Record<string, unknown>
}

/** Of more ids, one text takes less time to parse than an array of literals. */
const ARRAY_MAX = 200

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
    bindIds: (ids) =>
      ids.length <= ARRAY_MAX
        ? bind(ids, 'Array(String)')
        : `(SELECT arrayJoin(splitByChar(' ', ${bind(ids.join(' '), 'String')})))`,
  }
}
