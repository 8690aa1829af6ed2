import { defineConfig } from 'vitest/config'
import { S3_CREDENTIALS } from './tests/cluster/seaweedfs.ts'

/** The unmodified clients, each of whose requests goes to another one of three servers over the same stores. */
const CLIENTS = ['weave', 'wandb', 'otlp', 'identity-tokens']

export default defineConfig({
  test: {
    include: CLIENTS.map((name) => `tests/wire/${name}.test.ts`),
    globalSetup: 'tests/cluster/start-servers.ts',
    env: S3_CREDENTIALS,
    maxWorkers: 1,
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
