import type { Command } from 'commander'
import { Option } from 'commander'
import { ApiKey, KEY_DAYS_MAX, KeyCreateRes, KeyRevokeRes } from '../../src/accounts/keys/wire.ts'
import { shellWord } from '../../src/shell-word.ts'
import { examples, signInLink, wholeNumber } from './options.ts'
import { type AskOptions, askForAll, asking, askServer, print, table } from './running-server.ts'
import { signIn } from './sign-in.ts'

const PATH = '/v1/accounts/keys'

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
  addCreate(keys)
  asking(keys.command('list'))
    .description('List keys that are not revoked.')
    .option('--user <name>', 'of a service account of a team that you manage')
    .action(async (options: AskOptions & { user?: string }) => {
      const all = await askForAll(options, {
        path: PATH,
        query: options.user ? { user: options.user } : {},
        item: ApiKey,
        after: ({ id }) => id,
      })
      print(all, options, (rows) =>
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
      const path = `${PATH}/${encodeURIComponent(id)}`
      const gone = await askServer(options, KeyRevokeRes, 'DELETE', path)
      print(gone, options, () => `The key ${id} is revoked.`)
    })
}

function addCreate(keys: Command): void {
  asking(keys.command('create'))
    .description('Make a key, which is printed once.')
    .argument('<name>', 'what the key is for')
    .addOption(
      new Option('--scope <scope>', 'what it may be used for')
        .choices(['all', 'read', 'ingest', 'inference'])
        .default('all'),
    )
    .option('--project <entity/project>', 'the only project that it may use')
    .addOption(
      new Option('--days <number>', 'how many days it is valid (default: for ever)').argParser(
        wholeNumber(KEY_DAYS_MAX),
      ),
    )
    .option('--user <name>', 'a service account of a team that you manage')
    .addOption(
      new Option('--link <address>', 'a sign-in link, in place of a key: it is used up')
        .argParser(signInLink)
        .conflicts(['url', 'key', 'data']),
    )
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
      const made =
        options.link === undefined
          ? await askServer(options, KeyCreateRes, 'POST', PATH, body)
          : await signIn(options.link, body)
      print(
        made,
        options,
        ({ key }) => `${key}\nIt is not shown again. Use it with: export HEDDLE_API_KEY=${shellWord(key)}`,
      )
    })
}
