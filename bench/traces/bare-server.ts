/** The bytes of a file over HTTP and nothing else: `bare-server.ts FILE` prints its address. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { urlOf } from '../free-address.ts'

const [, , file = ''] = process.argv
const bytes = readFileSync(file)
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end(bytes))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${urlOf(server)}\n`))
