import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import pRetry from 'p-retry'
import { request } from 'undici'
import { environmentFolder } from '../../scripts/python-environments.ts'
import { type Child, startChild } from '../../src/stores/processes/child.ts'
import { freePort } from '../../src/stores/processes/free-port.ts'
import { createLogFolder } from '../../src/stores/processes/log-folder.ts'
import { until } from '../wire/until.ts'

/** The head answers after seven seconds on a quiet machine. */
const START_MS_MAX = 120_000

/** Ray gives a node up that is not there within half a minute, as on a machine where much else runs. */
const STARTS_MAX = 4

/** The first job of a cluster waits for a process that it starts. */
const ANSWER_MS_MAX = 60_000

/** A node without data of its own. */
const OBJECT_STORE_BYTES = 100_000_000

/** A resource that nodes of engines have, and the head has not. */
export const ENGINE = 'engine'

/** A machine of the cluster, which is one of its processes here. */
export interface RayNode {
  pid: number
  /** Ends it and all that runs on it at once, as a loss of power does. */
  kill(): Promise<void>
  /** Processes on it whose command line contains `word`. */
  processes(word: string): number[]
  /** Those of them that a process has started, or that those have. */
  below(pid: number, word: string): number[]
}

/** A Ray cluster on this machine: a head that runs no engine, and nodes that do. Disposal ends all. */
export interface RayCluster extends AsyncDisposable {
  url: string
  /** The Jobs API, asked as its users do. */
  ask<Reply>(path: string, method?: 'GET' | 'POST', body?: object): Promise<Reply>
  /** Runs a command as a job of somebody else, on the head. Resolves with the id of the job. */
  submit(command: string): Promise<string>
  /** Adds a node with one of the resource `engine`. */
  addNode(): Promise<RayNode>
}

/** @param options.token what the cluster asks its users for */
export async function startRay({ token }: { token?: string } = {}): Promise<RayCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'ray-'))
  const logs = createLogFolder(folder)
  const ports = await Promise.all(Array.from({ length: 3 }, freePort))
  const [gcs, dashboard, client] = ports
  const url = `http://127.0.0.1:${dashboard}`
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const children: Child[] = []

  async function start(name: string, args: readonly string[]): Promise<Child> {
    const child = startChild({
      command: join(environmentFolder('ray'), 'bin/ray'),
      args: [
        'start',
        ...args,
        '--node-ip-address=127.0.0.1',
        `--dashboard-agent-listen-port=${await freePort()}`,
        `--object-store-memory=${OBJECT_STORE_BYTES}`,
        // One for all: Ray finds the outputs of a job by the address of its node, which is the same for all of them
        // here.
        `--temp-dir=${folder}/ray`,
        '--disable-usage-stats',
        '--block',
      ],
      env: {
        ...env,
        // Not one of another cluster.
        RAY_ADDRESS: undefined,
        ...(token !== undefined && { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: token }),
      },
      cwd: folder,
      logs,
      logName: `${name}.log`,
      stdout: 'log',
    })
    children.push(child)
    return child
  }

  async function ask<Reply>(path: string, method: 'GET' | 'POST' = 'GET', body?: object): Promise<Reply> {
    // Not `fetch`, which Ray takes for a browser.
    const reply = await request(url + path, {
      method,
      headers,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.body.text()
    if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${reply.statusCode} ${text}`)
    return JSON.parse(text) as Reply
  }

  /** @throws Error with the output of a process that does not do it in time */
  async function eventually(what: string, child: Child, check: () => Promise<boolean>): Promise<void> {
    const startedAt = performance.now()
    await until(async () => {
      if (await check().catch(() => false)) return true
      if (child.isAlive() && performance.now() - startedAt < START_MS_MAX) return undefined
      throw new Error(
        `${what} does not start ("npm run setup ray" installs it):\n${child.lastLines().join('\n')}`,
      )
    })
  }

  /** Of nodes that Ray takes for alive, which a killed one is for half a minute more. */
  async function aliveNodes(): Promise<string[]> {
    const { data } = await ask<{ data: { summary: { raylet: { state: string; nodeId: string } }[] } }>(
      '/nodes?view=summary',
    )
    return data.summary.flatMap(({ raylet }) => (raylet.state === 'ALIVE' ? [raylet.nodeId] : []))
  }

  async function startNode(): Promise<Child> {
    const before = await aliveNodes()
    const args = [`--address=127.0.0.1:${gcs}`, '--num-cpus=2', `--resources={"${ENGINE}":1}`]
    const node = await start(`node-${children.length}`, args)
    await eventually('A node of Ray', node, async () =>
      (await aliveNodes()).some((id) => !before.includes(id)),
    )
    return node
  }

  async function startHead(): Promise<void> {
    const head = await start('head', [
      '--head',
      `--port=${gcs}`,
      `--ray-client-server-port=${client}`,
      '--dashboard-host=127.0.0.1',
      `--dashboard-port=${dashboard}`,
      '--num-cpus=1',
    ])
    await eventually('The head of Ray', head, async () => (await aliveNodes()).length > 0)
  }

  await pRetry(startHead, { retries: STARTS_MAX - 1 })

  return {
    url,
    ask,
    async submit(entrypoint) {
      const job = await ask<{ submission_id: string }>('/api/jobs/', 'POST', { entrypoint })
      return job.submission_id
    },
    async addNode() {
      const node = await pRetry(startNode, { retries: STARTS_MAX - 1 })
      return {
        pid: node.pid,
        kill: () => killAll(node),
        processes: (word) => processesOf(node.pid, word),
        below: processesOf,
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(killAll))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Workers of a node lead groups of their own. */
async function killAll(node: Child): Promise<void> {
  const all = processesOf(node.pid, '')
  await node.kill('at-once')
  for (const pid of all) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended with the others.
    }
  }
}

/** A process and all that it or those have started, of those whose command line contains `word`. */
function processesOf(root: number, word: string): number[] {
  const listing = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const all = listing.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }]
  })
  const found = new Set([root])
  for (const ancestor of found) for (const { pid, parent } of all) if (parent === ancestor) found.add(pid)
  return all.filter(({ pid, args }) => found.has(pid) && args.includes(word)).map(({ pid }) => pid)
}
