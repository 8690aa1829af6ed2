/** Collects values that SQL refers to by placeholder, so that no value ever enters the text. */
export interface Params {
  /** Binds a value and returns its placeholder, such as `{v3:String}`. */
  bind(value: unknown, type: string): string
  /** Binds a number and returns SQL for it. */
  bindNumber(value: number): string
  /** Binds numbers and returns SQL for their set. */
  bindNumbers(values: readonly number[]): string
  /** Binds ids, none of which has a space, and returns SQL for their set. */
  bindIds(ids: readonly string[]): string
  values: Record<string, unknown>
}

/** Of more ids, one text takes less time to parse than an array of literals. */
const ARRAY_MAX = 200

/** chDB's driver refuses whole numbers beyond 2^53, and what is no number; they travel as texts. */
function isSendable(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
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
    bindNumber: (value) =>
      isSendable(value) ? bind(value, 'Float64') : `toFloat64(${bind(String(value), 'String')})`,
    bindNumbers: (numbers) =>
      numbers.every(isSendable)
        ? bind(numbers, 'Array(Float64)')
        : `arrayMap(text -> toFloat64(text), ${bind(numbers.map(String), 'Array(String)')})`,
    bindIds: (ids) =>
      ids.length <= ARRAY_MAX
        ? bind(ids, 'Array(String)')
        : `(SELECT arrayJoin(splitByChar(' ', ${bind(ids.join(' '), 'String')})))`,
  }
}
