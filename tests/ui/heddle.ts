import AxeBuilder from '@axe-core/playwright'
import { test as base, expect, type Page } from '@playwright/test'
import { startServer, type WireServer } from '../wire/server.ts'

interface World {
  /** A Heddle of this worker's own, without an engine. */
  server: WireServer
}

/** Tests of the pages: each worker has a server, each test makes its own project in it. */
export const test = base.extend<{ baseURL: string; project: string }, World>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from its first parameter
    async ({}, use) => {
      await using server = await startServer({ HEDDLE_CACHE: '/nonexistent/cache' })
      await use(server)
    },
    { scope: 'worker' },
  ],
  baseURL: ({ server }, use) => use(server.url),
  // biome-ignore lint/correctness/noEmptyPattern: see above
  project: ({}, use, info) => use(`local/p-${info.testId}-${info.repeatEachIndex}`),
})

export { expect }

/** What axe finds on the page that people could not use; each entry names its rule and the first element. */
export async function seriousViolations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
    .analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
