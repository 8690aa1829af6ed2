import { existsSync } from 'node:fs'
import { chromium } from '@playwright/test'

/** Where Debian and Ubuntu put theirs. */
const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser that the tests drive. @throws Error that says how to get one. */
export function chromiumPath(): string {
  const { HEDDLE_CHROMIUM } = process.env
  if (HEDDLE_CHROMIUM !== undefined) {
    if (existsSync(HEDDLE_CHROMIUM)) return HEDDLE_CHROMIUM
    throw new Error(`HEDDLE_CHROMIUM names ${HEDDLE_CHROMIUM}, which is not there`)
  }
  const found = [...SYSTEM, chromium.executablePath()].find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new Error(
    'No Chromium was found. Install one (Debian: apt install chromium; elsewhere: npx playwright install chromium), or name one in HEDDLE_CHROMIUM.',
  )
}
