import { defineConfig } from 'vitest/config'
import { S3_CREDENTIALS } from './tests/cluster/seaweedfs.ts'

/** Tests of features whose stores are then on servers elsewhere: of most of the SQL, and of what stores files. */
const FEATURES = [
  'src/trace/calls/{calls,payload-names}.test.ts',
  'src/trace/objects/objects.test.ts',
  'src/trace/{files,feedback,call-stats,project,threads}/*.test.ts',
  'src/trace/otlp/conventions.test.ts',
  'src/tracking/artifacts/{artifacts,pending-uploads,uploads}.test.ts',
  'src/tracking/runs/runs.test.ts',
  'src/jobs/{job-queue,due-in-turn,groups-in-turn}.test.ts',
  'src/accounts/{accounts,projects}.test.ts',
  'src/accounts/removal/removal.test.ts',
  'src/accounts/{graphql,oidc,limits}/*.test.ts',
  'src/trace/annotation-queues/*.test.ts',
  'src/training/{checkpoints,trajectories}/*.test.ts',
  'src/redaction/{redaction,hit-counts}.test.ts',
  'src/system/health/health.test.ts',
]

export default defineConfig({
  test: {
    include: ['{src,tests}/**/*.cluster.test.ts', ...FEATURES],
    exclude: ['**/*.slow.test.ts', '**/node_modules/**'],
    globalSetup: ['tests/test-folder.ts', 'tests/cluster/start-servers.ts'],
    env: S3_CREDENTIALS,
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
