import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/wire/**/*.test.ts'],
    // Each file starts a server, some with the engine, which waits as long as it works: two fill two cores.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
