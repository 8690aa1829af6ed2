import type { Hono } from 'hono'
import type { WebPages } from '../web/pages.ts'

/** Files of the UI, and its page at `/` for people; programs go on to the API's own answer. */
export function addWeb(app: Hono, web: WebPages): void {
  app.get('/', async (c, next) => (await web.page(c.req.raw)) ?? (await next()))
  for (const path of ['/assets/:name', '/theme.js', '/favicon.svg'])
    app.get(path, async (c, next) => (await web.file(c.req.raw)) ?? (await next()))
}
