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

/** From the list of calls to the page of one, which has another id each time. */
const openCall = (name: RegExp) => async (page: Page) => {
  await page.getByRole('grid', { name: 'Calls' }).getByRole('row', { name }).first().click()
  await page.getByRole('complementary', { name: 'call' }).getByRole('tab').first().waitFor()
  await page.keyboard.press('o')
  await page.getByRole('treegrid').getByRole('row', { selected: true }).waitFor()
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
  {
    name: 'call-trace',
    path: '/local/agents/traces',
    ready: async (page) => {
      await openCall(/research_agent/)(page)
      await page.keyboard.press('e')
      await page.getByRole('region', { name: 'Exception' }).waitFor()
    },
  },
  {
    name: 'call-chat',
    path: '/local/shop/traces?calls=all',
    ready: async (page) => {
      await openCall(/openai/)(page)
      await page.getByRole('list', { name: 'Conversation' }).getByRole('table').waitFor()
    },
  },
  {
    name: 'evaluations',
    path: '/local/capitals/evaluations',
    ready: async (page) => {
      await page.getByRole('row', { name: /capitals, base/ }).waitFor()
    },
  },
  {
    name: 'compare',
    path: '/local/capitals/evaluations',
    ready: async (page) => {
      const list = page.getByRole('grid', { name: 'Evaluations' })
      await list.getByRole('row', { name: /capitals, base/ }).waitFor()
      // On a phone rows have no boxes; there the page of one evaluation is shown.
      const boxes = await list.getByRole('checkbox').all()
      for (const box of boxes) await box.click()
      if (boxes.length > 0) await page.getByRole('button', { name: /^Compare/ }).click()
      else await list.getByRole('row', { name: /capitals, tuned/ }).click()
      await page.getByRole('button', { name: /names_it right/ }).click()
      await page
        .getByRole('grid', { name: 'Rows' })
        .getByRole('row', { name: /What is capital/ })
        .first()
        .waitFor()
    },
  },
  {
    name: 'dataset',
    path: '/local/capitals/datasets?name=capitals',
    ready: async (page) => {
      await page.getByRole('row', { name: /What is capital number 9/ }).waitFor()
    },
  },
  {
    name: 'threads',
    path: '/local/shop/threads?thread=tiles-for-the-bathroom',
    ready: async (page) => {
      await page.getByRole('log', { name: 'Turns' }).getByRole('table').waitFor()
    },
  },
  { name: 'traces-empty', path: '/local/nothing-yet/traces', ready: section('No calls yet') },
  {
    name: 'training-empty',
    path: '/local/nothing-yet/training',
    ready: section('No model is trained here yet'),
  },
  {
    name: 'playground',
    path: '/local/support-bot/playground',
    ready: async (page) => {
      await page.getByRole('button', { name: /^Model: heddle/ }).waitFor()
    },
  },
  {
    name: 'system',
    path: '/system',
    ready: (page) => page.getByRole('img', { name: /rows accepted/ }).waitFor(),
  },
]
