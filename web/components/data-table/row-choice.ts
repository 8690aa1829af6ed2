/** One row, or all from the one that was ticked last to this. */
export type ChooseHow = 'one' | 'up to'

export type OnSelect = (id: string, index: number, how: ChooseHow) => void

/** The box that ticks all rows of a table, loaded or not. */
export interface AllRows {
  /** How many of them are ticked. */
  share: 'none' | 'some' | 'all'
  /** Whether there is none to tick, or it is not known yet which. */
  isDisabled: boolean
  onChoose: () => void
}
