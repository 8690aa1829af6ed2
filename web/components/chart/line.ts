/** One curve over the x values that all of a chart share. */
export interface Line {
  label: string
  values: readonly (number | null)[]
  /** A role of the styles: `accent`, `kind-tool`… */
  color: string
  /** Of the same length; drawn as an area behind the curve. */
  band?: { low: readonly (number | null)[]; high: readonly (number | null)[] }
}
