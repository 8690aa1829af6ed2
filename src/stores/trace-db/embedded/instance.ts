import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { libchdbPath } from 'chdb/libchdb'
import { messageOf } from '../../../errors.ts'
import { type Child, startChild } from '../../processes/child.ts'
import { withoutSettings } from '../../processes/child-environment.ts'
import { freePort } from '../../processes/free-port.ts'
import type { LogFolder } from '../../processes/log-folder.ts'
import { type Connection, connect } from '../clickhouse/connection.ts'
import { type ServerConfig, serverXml, usersXml } from './server-config.ts'
import type { SqlAccess } from './sql-access.ts'

const PROGRAM = join(import.meta.dirname, 'serve.ts')

const USERS_FILE = 'users.xml'

/** It starts in half a second, and on a busy machine in twenty. */
const START_MS_MAX = 60_000

const POLL_MS = 20

const SECRET_BYTES = 24

/** A ClickHouse process that answers. */
export interface Instance {
  child: Child
  connection: Connection
}

/** Where a ClickHouse process has its tables, its configuration and its log, and who else may read the tables. */
export interface InstanceOptions {
  path: string
  folder: string
  logs: LogFolder
  sqlAccess: SqlAccess | undefined
  /** Called when the process has been started; it answers half a second later. */
  onLaunched?: (() => void) | undefined
}

/**
 * Starts a ClickHouse process, reachable from this machine with a password and a key that are new each time.
 * @throws Error with the last output of the process when it ends, or does not answer in time
 */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { path, folder, logs, sqlAccess, onLaunched } = options
  const config: ServerConfig = {
    port: sqlAccess?.port ?? (await freePort()),
    user: 'heddle',
    password: randomBytes(SECRET_BYTES).toString('hex'),
    key: { header: 'x-heddle-key', value: randomBytes(SECRET_BYTES).toString('hex') },
    sqlAccess,
  }
  const serverFile = join(folder, 'config.xml')
  writeFileSync(serverFile, serverXml(config, USERS_FILE))
  writeFileSync(join(folder, USERS_FILE), usersXml(config))
  const child = startChild({
    command: execPath,
    args: [PROGRAM, libchdbPath(), path, serverFile],
    env: withoutSettings(env),
    cwd: folder,
    logs,
    logName: 'clickhouse.log',
    stdout: 'log',
  })
  onLaunched?.()
  const connection = connect({
    url: `http://127.0.0.1:${config.port}`,
    username: config.user,
    password: config.password,
    headers: { [config.key.header]: config.key.value },
  })
  try {
    await untilAnswers(connection, child)
    return { child, connection }
  } catch (error) {
    await stopInstance({ child, connection })
    throw error
  }
}

/** Whether a start failed because another process holds the files: ClickHouse locks one of them. */
export function isHeld(error: unknown): boolean {
  return messageOf(error).includes('Another server instance in same directory is already running')
}

export async function stopInstance({ child, connection }: Instance): Promise<void> {
  await connection[Symbol.asyncDispose]()
  await child.kill('politely')
}

/** @throws Error with the last output of the process when it ends, or does not answer in time */
export async function untilAnswers(connection: Connection, child: Child): Promise<void> {
  const giveUpAt = performance.now() + START_MS_MAX
  for (;;) {
    try {
      await connection.run('SELECT 1')
      return
    } catch (error) {
      if (!child.isAlive()) {
        const reason = await child.exited
        throw new Error(`ClickHouse ended with its start: ${reason}\n${child.lastLines().join('\n')}`)
      }
      if (performance.now() > giveUpAt) throw new Error(`ClickHouse does not answer: ${messageOf(error)}`)
      await delay(POLL_MS)
    }
  }
}
