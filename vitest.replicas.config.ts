import { defineConfig } from 'vitest/config'
import { S3_CREDENTIALS } from './tests/cluster/seaweedfs.ts'

/** Tests of one server alone: what they break or look at is its disk, its process or its machine. */
const OF_ONE_SERVER = {
  'disk-full': 'the disk of the embedded databases',
  faults: 'the disk of the embedded databases',
  flood: 'the disk of the embedded databases',
  'orphan-blobs': 'files in the data folder',
  'unexpected-errors': 'one process',
  'without-engine': 'a Python environment on the machine of the server',
  engines: 'the memory of the machine that engines share',
}

/**
 * The unmodified clients, each of whose requests goes to another one of three servers over the same stores, whose
 * engines are on Ray. `npm test` runs some of these files, `npm run test:replicas wire` each.
 */
export default defineConfig({
  test: {
    include: ['tests/wire/*.test.ts'],
    exclude: Object.keys(OF_ONE_SERVER).map((name) => `tests/wire/${name}.test.ts`),
    globalSetup: ['tests/cluster/start-servers.ts', 'tests/ray/start-ray.ts'],
    env: S3_CREDENTIALS,
    maxWorkers: 1,
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
