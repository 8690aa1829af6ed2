/** Values in parts of a length, in order; the last may be shorter. A statement takes a limited number of values. */
export function* slicesOf<Value>(values: readonly Value[], length: number): Generator<Value[]> {
  for (let from = 0; from < values.length; from += length) yield values.slice(from, from + length)
}
