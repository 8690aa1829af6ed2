import { vi } from 'vitest'

/** Longer than anything that tests wait for takes on a busy machine; one that waits for longer has failed. */
const WAIT_MS_MAX = 60_000

/** Repeats a check until it does not throw. @param timeout in milliseconds. @throws its last error. */
export function eventually<Result>(
  check: () => Result | Promise<Result>,
  timeout = WAIT_MS_MAX,
): Promise<Result> {
  return vi.waitFor(check, { timeout })
}
