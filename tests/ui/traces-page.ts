import type { Page } from '@playwright/test'

/** What the journeys through the list of calls look at. */
export const grid = (page: Page) => page.getByRole('grid', { name: 'Calls' })
export const title = (page: Page) => page.getByRole('heading', { name: /^Traces/ })
export const bar = (page: Page) => page.getByRole('region', { name: 'Chosen calls' })
