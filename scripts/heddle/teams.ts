import type { Command } from 'commander'
import { Option } from 'commander'
import { Member, MemberRemoveRes, MembersRes, Team } from '../../src/accounts/teams/wire.ts'
import { examples } from './options.ts'
import { type AskOptions, askForAll, asking, askServer, print, table } from './running-server.ts'

const PATH = '/v1/accounts/teams'

function roleOption(): Option {
  return new Option('--role <role>', 'what the member may do')
    .choices(['viewer', 'member', 'admin'])
    .default('member')
}

/** `heddle teams`: teams, their members and service accounts. */
export function addTeams(program: Command): void {
  const teams = program
    .command('teams')
    .description('Add and list teams, their members and service accounts.')
  asking(teams.command('add'))
    .description('Add a team (operators only).')
    .argument('<name>')
    .option('--admin <user>', 'who manages it (default: you)')
    .addHelpText('after', examples('heddle teams add research --admin ada'))
    .action(async (name: string, options: AskOptions & { admin?: string }) => {
      const team = await askServer(options, Team, 'POST', PATH, { name, admin: options.admin })
      print(team, options, () => `The team ${name} was added.`)
    })
  asking(teams.command('list'))
    .description('List teams: all for operators, else those that you belong to.')
    .action(async (options: AskOptions) => {
      const all = await askForAll(options, { path: PATH, item: Team, after: ({ name }) => name })
      print(all, options, (rows) =>
        table(
          ['name', 'kind'],
          rows.map(({ name, kind }) => [name, kind]),
        ),
      )
    })
  asking(teams.command('members'))
    .description('List the members of a team.')
    .argument('<team>')
    .action(async (team: string, options: AskOptions) => {
      const path = `${PATH}/${encodeURIComponent(team)}/members`
      const { data } = await askServer(options, MembersRes, 'GET', path)
      print(data, options, (rows) =>
        table(
          ['user', 'kind', 'role', ''],
          rows.map(({ user, kind, role, disabled }) => [user, kind, role, disabled ? 'disabled' : '']),
        ),
      )
    })
  addMembership(teams)
}

function addMembership(teams: Command): void {
  asking(teams.command('invite'))
    .description('Add a user to a team, or change the role of a member.')
    .argument('<team>')
    .argument('<user>')
    .addOption(roleOption())
    .action(async (team: string, user: string, options: AskOptions & { role: string }) => {
      const member = await askServer(options, Member, 'PUT', memberPath(team, user), {
        role: options.role,
      })
      print(member, options, ({ role }) => `${user} is ${role} of ${team}.`)
    })
  asking(teams.command('remove'))
    .description('Remove a member from a team.')
    .argument('<team>')
    .argument('<user>')
    .action(async (team: string, user: string, options: AskOptions) => {
      const gone = await askServer(options, MemberRemoveRes, 'DELETE', memberPath(team, user))
      print(gone, options, ({ removed }) => (removed ? `${user} was removed.` : `${user} was no member.`))
    })
  asking(teams.command('service-account'))
    .description('Add a user for programs to a team; make its keys with heddle keys create --user.')
    .argument('<team>')
    .argument('<name>')
    .addOption(roleOption())
    .action(async (team: string, name: string, options: AskOptions & { role: string }) => {
      const path = `${PATH}/${encodeURIComponent(team)}/service-accounts`
      const member = await askServer(options, Member, 'POST', path, { name, role: options.role })
      print(member, options, () => `The service account ${name} was added to ${team}.`)
    })
}

function memberPath(team: string, user: string): string {
  return `${PATH}/${encodeURIComponent(team)}/members/${encodeURIComponent(user)}`
}
