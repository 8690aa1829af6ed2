/** The bytes of a file over HTTP and nothing else: `bare-server.mjs FILE` prints its address. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const bytes = readFileSync(process.argv[2])
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end(bytes))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`))
