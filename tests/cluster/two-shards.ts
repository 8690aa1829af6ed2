import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { freePort } from '../../src/stores/processes/free-port.ts'
import { startTestClickHouse, type TestClickHouse } from '../../src/stores/trace-db/elsewhere/test-server.ts'

/** The name of the cluster. */
export const CLUSTER = 'fabric'

/** Two ClickHouse servers, each a shard of one cluster; disposal ends them. */
export interface TwoShards extends AsyncDisposable {
  /** An address for `HEDDLE_CLICKHOUSE_URL`. */
  url(database: string): string
  /** Those of the servers themselves. */
  shards: readonly TestClickHouse[]
}

/**
 * Starts two servers that know each other as shards. ClickHouse distributes statements and replicates tables by its
 * Keeper, which the library does not have: a fake in front of the first server runs what is `ON CLUSTER` on both, with
 * tables that are not replicated. All else is real.
 */
export async function startTwoShards(): Promise<TwoShards> {
  await using starting = new AsyncDisposableStack()
  const ports = [await freePort(), await freePort()]
  const shards = await Promise.all(
    ports.map(async (_, index) =>
      starting.use(await startTestClickHouse({ config: configOf(ports, index), protocols: ['HTTP', 'TCP'] })),
    ),
  )
  const fake = createServer((req, res) => void answer(req, res, shards))
  const port = await freePort()
  await new Promise<void>((resolve) => fake.listen(port, '127.0.0.1', resolve))
  starting.defer(() => {
    fake.closeAllConnections()
    return new Promise<void>((resolve) => fake.close(() => resolve()))
  })
  const started = starting.move()
  return {
    shards,
    url: (database) => `http://heddle:heddle@127.0.0.1:${port}/${database}`,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

function configOf(ports: readonly number[], index: number): string {
  const replicaOf = (port: number): string => `<shard><replica><host>127.0.0.1</host><port>${port}</port>
    <user>heddle</user><password>heddle</password></replica></shard>`
  return `<tcp_port>${ports[index]}</tcp_port>
    <remote_servers><${CLUSTER}>${ports.map(replicaOf).join('')}</${CLUSTER}></remote_servers>
    <macros><shard>${index}</shard><replica>only</replica></macros>`
}

async function answer(req: IncomingMessage, res: ServerResponse, shards: readonly TestClickHouse[]) {
  const [first] = shards
  if (first === undefined) throw new TypeError('there are two')
  const body = Buffer.concat(await req.toArray())
  const statement = body.toString()
  if (!statement.includes(` ON CLUSTER '${CLUSTER}'`)) return forward(req, body, first, res)
  const own = statement
    .replaceAll(` ON CLUSTER '${CLUSTER}'`, '')
    .replace(/ENGINE = Replicated(\w+)\('[^']*', '\{replica\}'(, )?/, 'ENGINE = $1(')
  const [last = first, ...others] = shards.toReversed()
  for (const shard of others) if ((await forward(req, Buffer.from(own), shard)) !== 200) break
  await forward(req, Buffer.from(own), last, res)
}

/** Resolves with the status of a server's reply, which may be passed on. */
function forward(
  { method, url, headers: { 'content-length': _, ...headers } }: IncomingMessage,
  body: Buffer,
  { port }: TestClickHouse,
  to?: ServerResponse,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const forwarded = request({ host: '127.0.0.1', port, method, path: url, headers }, (reply) => {
      reply.on('end', () => resolve(reply.statusCode)).on('error', () => to?.destroy())
      to?.writeHead(reply.statusCode ?? 500, reply.headers)
      if (to === undefined) reply.resume()
      else reply.pipe(to)
    })
    to?.on('close', () => forwarded.destroy())
    forwarded.on('error', () => {
      to?.destroy()
      resolve(undefined)
    })
    forwarded.end(body)
  })
}
