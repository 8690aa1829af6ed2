import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/differential/**/*.test.ts'],
    testTimeout: 300_000,
    // Four servers start, and every request of every scenario is sent, before the first comparison; a busy machine
    // takes three times as long.
    hookTimeout: 900_000,
  },
})
