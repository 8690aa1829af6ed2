import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { libchdbPath } from 'chdb/libchdb'
import { type Child, startChild } from '../../processes/child.ts'
import { freePort } from '../../processes/free-port.ts'
import { createLogFolder } from '../../processes/log-folder.ts'
import { connect } from '../clickhouse/connection.ts'
import { untilAnswers } from '../embedded/instance.ts'

/** A user of a test server: its password is its name. Without grants it may do everything. */
export interface TestUser {
  name: string
  grants?: readonly string[]
}

/** A ClickHouse server as others operate it: with the handlers, the defaults and the users of its own configuration. */
export interface TestClickHouse extends AsyncDisposable {
  port: number
  /** An address for `HEDDLE_CLICKHOUSE_URL`. */
  url(database: string, user?: string): string
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>
  /** Starts it again on its port and its files. */
  start(): Promise<void>
}

export interface TestClickHouseOptions {
  users?: readonly TestUser[]
  /** XML that the configuration has besides. */
  config?: string
  /** What it speaks; HTTP where absent. */
  protocols?: readonly ('HTTP' | 'TCP')[]
}

const PROGRAM = join(import.meta.dirname, '../embedded/serve.ts')

/** The user that may do everything. */
const ADMIN = 'heddle'

/** Starts a server with its files in a temporary folder; disposal removes them. */
export async function startTestClickHouse(options: TestClickHouseOptions = {}): Promise<TestClickHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-clickhouse-'))
  const port = await freePort()
  mkdirSync(join(folder, 'logs'))
  writeFileSync(join(folder, 'users.xml'), usersXml([{ name: ADMIN }, ...(options.users ?? [])]))
  writeFileSync(
    join(folder, 'config.xml'),
    `<clickhouse><listen_host>127.0.0.1</listen_host><http_port>${port}</http_port>
      <users_config>${join(folder, 'users.xml')}</users_config>${options.config ?? ''}</clickhouse>`,
  )
  let child: Child | undefined

  async function start(): Promise<void> {
    child = startChild({
      command: execPath,
      args: [
        PROGRAM,
        libchdbPath(),
        join(folder, 'db'),
        join(folder, 'config.xml'),
        ...(options.protocols ?? []),
      ],
      env,
      cwd: folder,
      logs: createLogFolder(join(folder, 'logs')),
      logName: 'clickhouse.log',
      stdout: 'log',
    })
    const url = `http://127.0.0.1:${port}`
    await using connection = connect({ url, username: ADMIN, password: ADMIN, headers: {} })
    await untilAnswers(connection, child)
  }

  await start()
  return {
    port,
    url: (database, user = ADMIN) => `http://${user}:${user}@127.0.0.1:${port}/${database}`,
    start,
    async kill() {
      await child?.kill('at-once')
    },
    async [Symbol.asyncDispose]() {
      await child?.kill('at-once')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function usersXml(users: readonly TestUser[]): string {
  const written = users.map(({ name, grants }) => {
    const password = createHash('sha256').update(name).digest('hex')
    const rights = grants?.map((grant) => `<query>GRANT ${grant}</query>`).join('')
    return `<${name}><password_sha256_hex>${password}</password_sha256_hex><networks><ip>::/0</ip></networks>
      <profile>default</profile><quota>default</quota>${rights === undefined ? '' : `<grants>${rights}</grants>`}</${name}>`
  })
  // The library starts the listener as user `default`, as embedded/server-config.ts says.
  return `<clickhouse><profiles><default></default></profiles><quotas><default></default></quotas><users>
    <default><password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants></default>
    ${written.join('\n')}</users></clickhouse>`
}
