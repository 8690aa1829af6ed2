/** The least that any page can take: one row of text, and a click that shows it again. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { urlOf } from '../free-address.ts'

export interface IdlePage {
  url: string
  close(): void
}

const HTML = `<!doctype html><title>Empty</title><main><p class="row">nothing here</p></main><script>
document.querySelector('.row').onclick = () => document.body.insertAdjacentHTML('beforeend', '<aside>nothing here</aside>')
</script>`

export const IDLE = { words: 'nothing here', row: '.row', details: 'aside' }

/** Serves it on a free port. */
export async function serveIdlePage(): Promise<IdlePage> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(HTML),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: urlOf(server),
    close() {
      server.close()
    },
  }
}
