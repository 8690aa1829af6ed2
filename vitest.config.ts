import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/*.test.ts', 'web/**/*.test.ts'],
    // They need servers beside them, which vitest.cluster.config.ts starts.
    exclude: ['**/*.cluster.test.ts', '**/node_modules/**'],
    // chDB holds one data folder a process, so every test file gets a process of its own.
    pool: 'forks',
    maxWorkers: 2,
    // Ends what hangs; the longest test takes a minute alone, and some times as long where others work.
    testTimeout: 240_000,
    // A server with its databases starts in less than a second, and on a busy machine in twenty.
    hookTimeout: 240_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
