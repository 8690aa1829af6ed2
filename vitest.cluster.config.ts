import { defineConfig } from 'vitest/config'
import { S3_CREDENTIALS } from './tests/cluster/seaweedfs.ts'

/** Tests of features whose stores are then on servers elsewhere: what is most of the SQL, and what stores files. */
const FEATURES = [
  'src/trace/{calls,objects,tables,files,feedback,otlp}/*.test.ts',
  'src/trace/{call-stats,threads,removal,unused-content}/**/*.test.ts',
  'src/tracking/{artifacts,runs}/*.test.ts',
  'src/inference/usage/*.test.ts',
  'src/retention/**/*.test.ts',
]

export default defineConfig({
  test: {
    include: ['src/**/*.cluster.test.ts', ...FEATURES],
    exclude: ['**/*.slow.test.ts', '**/node_modules/**'],
    globalSetup: 'tests/cluster/start-servers.ts',
    env: S3_CREDENTIALS,
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
