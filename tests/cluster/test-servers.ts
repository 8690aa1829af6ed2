/** The environment variable with the servers of a run, as JSON, for programs that are not tests of Vitest. */
export const TEST_SERVERS = 'HEDDLE_TEST_SERVERS'
