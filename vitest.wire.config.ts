import { basename } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take a minute and more start first, so that at the end no core waits for them. */
const LONGEST = [
  'supervision',
  'templates',
  'with-engine-whole',
  'chat',
  'weave-whole',
  'crash',
  'with-engine',
  'fuzz',
  'large-job',
  'faults',
  'engines',
  'weave',
]

/** Ends what would never end: the longest test takes two minutes alone, and some times as long where others work. */
const HANGS_MS = 1_200_000

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.indexOf(basename(moduleId, '.test.ts'))
      return index === -1 ? LONGEST.length : index
    }
    return files.toSorted((one, other) => place(one) - place(other))
  }
}

export default defineConfig({
  test: {
    include: ['tests/wire/**/*.test.ts'],
    // Each file starts a server, some with the engine, which is busy as long as it works: two fill two cores.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: HANGS_MS,
    // A server that shares two cores and a disk with others is slow.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: HANGS_MS,
  },
})
