import { z } from 'zod'

/** The environment variable with the Ray cluster of a run, as JSON. */
export const TEST_RAY = 'HEDDLE_TEST_RAY'

export type TestRay = z.output<typeof TestRay>

/** A cluster on this machine that runs the engines of all servers that tests start. */
export const TestRay = z.object({
  /** Of the node whose children the engines are. */
  pid: z.number(),
  /** Settings of servers. */
  env: z.record(z.string(), z.string()),
})
