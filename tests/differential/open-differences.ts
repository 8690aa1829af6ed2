import type { WantedDifference } from './wanted-differences.ts'

/** Differences in which Heddle is the one to change; each fails the test until it is gone. */
export const OPEN_DIFFERENCES: readonly WantedDifference[] = []
