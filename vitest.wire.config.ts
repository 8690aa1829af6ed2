import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/wire/**/*.test.ts'],
    // Each file starts a server, some with the engine: two at once would only slow each other down.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
