import type { Page } from '@playwright/test'

export interface Shot {
  name: string
  path: string
  /** Waits until everything of the page is drawn, and opens what the picture should show. */
  ready: (page: Page) => Promise<void>
}

const section = (name: string) => async (page: Page) => {
  await page.getByRole('heading', { level: 2, name }).waitFor()
}

const rows = async (page: Page) => {
  await page.getByRole('grid').getByRole('row').filter({ hasText: /\w/ }).nth(5).waitFor()
  await page.getByRole('img', { name: /Calls over time/ }).waitFor()
}

/** The pages that `npm run screenshots` shows; each feature adds its own. */
export const SHOTS: readonly Shot[] = [
  {
    name: 'home',
    path: '/',
    ready: async (page) => {
      await page.getByRole('row', { name: 'local/support-bot' }).waitFor()
    },
  },
  { name: 'connect', path: '/?connect=true', ready: section('Point a client here') },
  { name: 'traces', path: '/local/support-bot/traces', ready: rows },
  {
    name: 'traces-peek',
    path: '/local/support-bot/traces',
    ready: async (page) => {
      await rows(page)
      await page.getByRole('grid').getByRole('row').nth(4).click()
      await page.getByRole('tree', { name: 'Output' }).waitFor()
    },
  },
  {
    name: 'traces-filtered',
    path: `/local/support-bot/traces?filter=${encodeURIComponent('[{"field":"status","op":"is","value":"error"}]')}`,
    ready: rows,
  },
  { name: 'traces-clients', path: '/local/clients/traces?calls=all', ready: rows },
  { name: 'traces-empty', path: '/local/nothing-yet/traces', ready: section('No calls yet') },
]
