/**
 * A process that is a ClickHouse server: `node serve.ts LIBRARY DATA CONFIG [PROTOCOL…]`, which speaks HTTP by default.
 * The library of chDB is a whole ClickHouse, which listens on command:
 * https://clickhouse.com/docs/sql-reference/statements/system#start-listen. Ends with its standard input, so it never
 * outlives the process that started it.
 */
import { argv, stderr, stdin } from 'node:process'
import { DataType, load, open } from 'ffi-rs'

const [, , library = '', data = '', config = '', ...protocols] = argv

const LISTEN = (protocols.length > 0 ? protocols : ['HTTP'])
  .map((protocol) => `SYSTEM START LISTEN ${protocol};`)
  .join(' ')

/**
 * A query that never ends: the library returns with its last query, and its listener ends then. How far it is is not
 * asked for, which the library would do ten times a second.
 */
const FOREVER = `SELECT sleepEachRow(3) FROM system.numbers
  SETTINGS interactive_delay = 600000000, max_block_size = 1, function_sleep_max_microseconds_per_block = 4000000 FORMAT Null`

stdin.on('end', end).on('error', end).resume()

const args = [
  'clickhouse',
  `--path=${data}`,
  `--config-file=${config}`,
  '--multiquery',
  `--query=${LISTEN} ${FOREVER}`,
]
open({ library: 'chdb', path: library })
load({
  library: 'chdb',
  funcName: 'query_stable_v2',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [args.length, args],
  runInNewThread: true,
}).then(failed, (error: unknown) => failed(String(error)))

/** The library has returned, so there is no listener. It has written its own error. */
function failed(error?: unknown): void {
  if (typeof error === 'string') stderr.write(`${error}\n`)
  process.exit(1)
}

/** At once: what was acknowledged is on disk, and the library's own end would wait for its queries. */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}
