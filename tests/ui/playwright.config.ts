import { defineConfig, devices } from '@playwright/test'
import { chromiumPath } from '../../scripts/chromium.ts'

export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: '../../test-results',
  // Each worker has a server and a browser; one of two waits often enough for the other to work.
  workers: 2,
  // In this order: the training lasts longest, and would be waited for at the end.
  projects: [
    { name: 'training', testMatch: 'training.test.ts' },
    { name: 'pages', testIgnore: 'training.test.ts' },
  ],
  retries: 0,
  // A page that shares two cores with another one and two servers is slow: axe alone takes seconds for each.
  timeout: 240_000,
  expect: { timeout: 30_000 },
  reporter: [
    ['list'],
    ['json', { outputFile: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ?? '../../test-results/report.json' }],
  ],
  use: {
    ...devices['Desktop Chrome'],
    viewport: { width: 1440, height: 900 },
    trace: 'retain-on-failure',
    launchOptions: { executablePath: chromiumPath(), args: ['--no-sandbox'] },
  },
})
