import { defineConfig } from 'vitest/config'

/** A cluster starts in 15 s and an engine in it in 10 to 40 s, on two cores that all of them share. */
const HANGS_MS = 600_000

export default defineConfig({
  test: {
    include: ['tests/ray/**/*.test.ts'],
    maxWorkers: 1,
    testTimeout: HANGS_MS,
    hookTimeout: HANGS_MS,
    expect: { poll: { timeout: 60_000 } },
  },
})
