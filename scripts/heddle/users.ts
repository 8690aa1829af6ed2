import type { Command } from 'commander'
import { SignInLinkRes, User, UserCreateRes } from '../../src/accounts/users/wire.ts'
import { examples } from './options.ts'
import { type AskOptions, askForAll, asking, askServer, print, table } from './running-server.ts'

const PATH = '/v1/accounts/users'

/** `heddle users`: people of a server with HEDDLE_AUTH=keys; its operators manage them. */
export function addUsers(program: Command): void {
  const users = program.command('users').description('Add, list, disable and enable users (operators only).')
  asking(users.command('add'))
    .description('Add a user; prints a link that signs the user in once, within two days.')
    .argument('<name>')
    .option('--email <address>')
    .option('--operator', 'may see and change the server itself')
    .addHelpText('after', examples('heddle users add ada --email ada@example.com'))
    .action(async (name: string, options: AskOptions & { email?: string; operator?: true }) => {
      const body = { name, email: options.email, is_operator: options.operator === true }
      const made = await askServer(options, UserCreateRes, 'POST', PATH, body)
      print(made, options, ({ sign_in_url }) => `${name} signs in by this link, once: ${sign_in_url}`)
    })
  asking(users.command('list'))
    .description('List users by name.')
    .action(async (options: AskOptions) => {
      const all = await askForAll(options, { path: PATH, item: User, after: ({ name }) => name })
      print(all, options, (rows) =>
        table(
          ['name', 'kind', 'mail address', 'operator', 'disabled'],
          rows.map((row) => [
            row.name,
            row.kind,
            row.email ?? '',
            row.is_operator ? 'yes' : '',
            row.disabled_at?.slice(0, 10) ?? '',
          ]),
        ),
      )
    })
  asking(users.command('link'))
    .description('Make a new link that signs a user in once.')
    .argument('<name>')
    .action(async (name: string, options: AskOptions) => {
      const path = `${PATH}/${encodeURIComponent(name)}/sign-in-link`
      const made = await askServer(options, SignInLinkRes, 'POST', path, {})
      print(made, options, ({ sign_in_url }) => sign_in_url)
    })
  for (const [verb, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const) {
    asking(users.command(verb))
      .description(
        disabled ? 'Refuse the keys of a user and end the sessions, at once.' : 'Allow a user again.',
      )
      .argument('<name>')
      .action(async (name: string, options: AskOptions) => {
        const path = `${PATH}/${encodeURIComponent(name)}`
        const changed = await askServer(options, User, 'PUT', path, { disabled })
        print(changed, options, () => `${name} is ${verb}d.`)
      })
  }
}
