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

/** What axe finds on the page in light and in dark that people could not use: its rule and the first elements. */
export async function seriousViolations(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme)
    const { violations } = await new AxeBuilder({ page })
      // What passes is not described.
      .options({ resultTypes: ['violations'] })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
      // The other mode opens an empty page each time, for frames of other origins. The pages have none.
      .setLegacyMode(true)
      .analyze()
    for (const { id, impact, nodes } of violations)
      if (impact === 'serious' || impact === 'critical')
        found.push(`${colorScheme}, ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
  }
  await page.emulateMedia({ colorScheme: null })
  return found
}
