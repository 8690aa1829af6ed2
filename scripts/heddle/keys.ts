import type { Command } from 'commander'
import { Option } from 'commander'
import { KeyCreateRes, KeyRevokeRes, KeysRes } from '../../src/accounts/keys/wire.ts'
import { examples } from './options.ts'
import { type AskOptions, asking, askServer, print, table } from './running-server.ts'
import { signIn } from './sign-in.ts'

interface CreateOptions extends AskOptions {
  scope: string
  project?: string
  days?: number
  user?: string
  link?: string
}

/** `heddle keys`: API keys of a server with HEDDLE_AUTH=keys. */
export function addKeys(program: Command): void {
  const keys = program.command('keys').description('Make, list and revoke API keys.')
  asking(keys.command('create'))
    .description('Make a key, which is printed once.')
    .argument('<name>', 'what the key is for')
    .addOption(
      new Option('--scope <scope>', 'what it may be used for')
        .choices(['all', 'read', 'ingest', 'inference'])
        .default('all'),
    )
    .option('--project <entity/project>', 'the only project that it may use')
    .option('--days <number>', 'how many days it is valid', Number)
    .option('--user <name>', 'a service account of a team that you manage')
    .option('--link <address>', 'a sign-in link, in place of a key: it is used up')
    .addHelpText(
      'after',
      examples(
        'heddle keys create laptop --link http://127.0.0.1:6060/sign-in#TOKEN',
        'heddle keys create ci --user build-bot --scope ingest --project team/app --days 90',
      ),
    )
    .action(async (name: string, options: CreateOptions) => {
      const { scope, project: project_id, days: expires_in_days, user } = options
      const body = { name, scope, project_id, expires_in_days, user }
      const reply =
        options.link === undefined
          ? await askServer(options, 'POST', '/v1/accounts/keys', body)
          : await signIn(options.link, body)
      const made = KeyCreateRes.parse(reply)
      print(made, options, ({ key }) => `${key}\nIt is not shown again. Use it with: export HEDDLE_API_KEY=…`)
    })
  asking(keys.command('list'))
    .description('List keys that are not revoked.')
    .option('--user <name>', 'of a service account of a team that you manage')
    .action(async (options: AskOptions & { user?: string }) => {
      const query = new URLSearchParams({ limit: '100', ...(options.user && { user: options.user }) })
      const { data } = KeysRes.parse(await askServer(options, 'GET', `/v1/accounts/keys?${query}`))
      print(data, options, (rows) =>
        table(
          ['id', 'prefix', 'name', 'scope', 'project', 'expires', 'last used'],
          rows.map((row) => [
            row.id,
            row.prefix,
            row.name,
            row.scope,
            row.project_id ?? 'all',
            row.expires_at?.slice(0, 10) ?? 'never',
            row.last_used_at?.slice(0, 16) ?? 'never',
          ]),
        ),
      )
    })
  asking(keys.command('revoke'))
    .description('Revoke a key, at once.')
    .argument('<id>', 'as heddle keys list prints it')
    .action(async (id: string, options: AskOptions) => {
      const path = `/v1/accounts/keys/${encodeURIComponent(id)}`
      const gone = KeyRevokeRes.parse(await askServer(options, 'DELETE', path))
      print(gone, options, () => `The key ${id} is revoked.`)
    })
}
