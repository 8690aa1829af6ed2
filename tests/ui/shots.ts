import type { Page } from '@playwright/test'

export interface Shot {
  name: string
  path: string
  /** `engine`: shown of a server with an engine, on which the demo has trained a model. */
  needs?: 'engine'
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

/** On a phone rows have no boxes; there the page of one evaluation is shown. */
const openComparison = async (page: Page) => {
  const list = page.getByRole('grid', { name: 'Evaluations' })
  await list.getByRole('row', { name: /capitals, base/ }).waitFor()
  const boxes = await list.getByRole('checkbox').all()
  for (const box of boxes) await box.click()
  if (boxes.length > 0) await page.getByRole('button', { name: /^Compare/ }).click()
  else await list.getByRole('row', { name: /capitals, tuned/ }).click()
}

/** From the list of models to the one that was trained, whose name has the time in it. */
const openModel = async (page: Page, view: string) => {
  await page.getByRole('grid', { name: 'Models' }).getByRole('row', { name: /sums-/ }).click()
  await page.getByRole('tab', { name: view }).click()
}

/** In the middle of a training attempts differ most; the slider counts trained steps from 0. */
const MIDDLE = 7

const openGroup = async (page: Page) => {
  await openModel(page, 'Trajectories')
  await page.getByRole('slider', { name: 'Step' }).fill(String(MIDDLE - 1))
  await page.getByText(`Step ${MIDDLE} of`).waitFor()
  await page
    .getByRole('grid', { name: 'Groups' })
    .getByRole('row', { name: /What is/ })
    .first()
    .click()
  await page
    .getByRole('complementary', { name: 'group' })
    .getByText(/ended by/)
    .waitFor()
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
  {
    name: 'connect',
    path: '/?connect=true',
    ready: async (page) => {
      await section('Point a client here')(page)
      await page.getByRole('link', { name: 'Traces' }).and(page.locator(':not([aria-disabled])')).waitFor()
      await page.getByText('Waiting for the first call').waitFor({ state: 'hidden' })
    },
  },
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
      await openComparison(page)
      const metric = page.getByRole('button', { name: 'names_it right', exact: true })
      await metric.click()
      // Of two evaluations, what got better is shown.
      if (await page.getByRole('button', { name: 'Only rows that all have' }).isVisible())
        await metric.click()
      // The rows that differ come first; of one evaluation those that failed.
      await page
        .locator('[role=grid]:not([data-stale])')
        .getByRole('row', { name: /What is capital/ })
        .first()
        .filter({ hasText: /▲|A 0/ })
        .waitFor()
    },
  },
  {
    name: 'compare-charts',
    path: '/local/capitals/evaluations',
    ready: async (page) => {
      await openComparison(page)
      await page.getByRole('tab', { name: 'Charts' }).click()
      await page.getByRole('region', { name: 'Rows against each other' }).getByRole('img').waitFor()
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
    name: 'training',
    path: '/local/demo/training',
    needs: 'engine',
    ready: (page) => page.getByRole('grid', { name: 'Models' }).getByRole('row', { name: /sums-/ }).waitFor(),
  },
  {
    name: 'model',
    path: '/local/demo/training',
    needs: 'engine',
    ready: async (page) => {
      await openModel(page, 'Curves')
      await page.getByRole('figure', { name: 'Importance ratio' }).locator('canvas').waitFor()
    },
  },
  {
    name: 'model-step',
    path: '/local/demo/training',
    needs: 'engine',
    ready: async (page) => {
      await openModel(page, 'Steps')
      await page.getByRole('grid', { name: 'Steps' }).getByRole('row', { name: /MB|kB/ }).first().click()
      await page.getByRole('heading', { name: 'Files' }).waitFor()
    },
  },
  {
    name: 'job',
    path: '/local/demo/training',
    needs: 'engine',
    ready: async (page) => {
      await openModel(page, 'Jobs')
      await page
        .getByRole('grid', { name: 'Jobs' })
        .getByRole('row', { name: /succeeded/ })
        .first()
        .click()
      await page.getByRole('figure', { name: 'Loss', exact: true }).waitFor()
    },
  },
  { name: 'rollouts', path: '/local/demo/training', needs: 'engine', ready: openGroup },
  {
    name: 'tokens',
    path: '/local/demo/training',
    needs: 'engine',
    ready: async (page) => {
      await openGroup(page)
      // The worst attempt: what of it the training made less likely, and a token that is looked at.
      await page.getByRole('complementary', { name: 'group' }).getByRole('radio').last().click()
      await page.keyboard.press('t')
      const tokens = page.getByRole('region', { name: 'Tokens' })
      await tokens.getByText('assistant').first().waitFor()
      await page.getByRole('combobox', { name: 'Colour tokens by' }).click()
      await page.getByRole('option', { name: 'Change by the training' }).click()
      await tokens.locator('[data-token]').filter({ hasText: '<|im_end|>' }).last().click()
    },
  },
  {
    name: 'playground',
    path: '/local/demo/training',
    needs: 'engine',
    ready: async (page) => {
      await openModel(page, 'Curves')
      await page.getByRole('button', { name: 'First and last, side by side' }).click()
      await page.getByRole('button', { name: 'Settings' }).click()
      await page.getByRole('textbox', { name: /^max_tokens/ }).fill('24')
      await page.getByRole('textbox', { name: /^temperature/ }).fill('0')
      await page.keyboard.press('Escape')
      for (const [index, question] of ['What is 12 + 30?', 'What is 25 + 16?'].entries()) {
        await page.getByRole('textbox', { name: 'Message to all columns' }).fill(question)
        await page.keyboard.press('Enter')
        for (const column of await page.getByRole('region', { name: /^Column of/ }).all())
          await column
            .getByRole('article', { name: 'assistant' })
            .nth(index)
            .getByText(/\d+ in/)
            .waitFor()
      }
      await page.getByRole('button', { name: 'Differences' }).click()
    },
  },
  {
    name: 'system',
    path: '/system',
    needs: 'engine',
    ready: async (page) => {
      await page.getByRole('img', { name: /rows accepted/ }).waitFor()
      await page.getByRole('img', { name: /in the data folder/ }).waitFor()
      await page.getByRole('region', { name: 'Versions' }).waitFor()
    },
  },
  {
    name: 'system-logs',
    path: '/system',
    needs: 'engine',
    ready: async (page) => {
      const lines = page.getByRole('log', { name: /^Lines of/ })
      await lines.getByText(/\w/).first().waitFor()
      await lines.scrollIntoViewIfNeeded()
    },
  },
]
