import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/*.test.ts', 'web/**/*.test.ts'],
    // They need servers beside them, which vitest.cluster.config.ts starts.
    exclude: ['**/*.cluster.test.ts', '**/node_modules/**'],
    globalSetup: ['tests/test-folder.ts', 'tests/migrated-folder.ts'],
    pool: 'forks',
    // Loading the modules of the server takes a second, which each of some hundred files would take again.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    // Some wait for what the database does by itself, for a minute: two others fill two cores meanwhile.
    maxWorkers: 3,
    // Ends what hangs; the longest test takes a minute alone, and some times as long where others work.
    testTimeout: 240_000,
    // A server with its databases starts in less than a second, and on a busy machine in twenty.
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
