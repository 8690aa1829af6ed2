import type { Command } from 'commander'
import { VERSION } from '../../src/version.ts'
import { examples, jsonOption } from './options.ts'

/** `heddle version`. */
export function addVersion(program: Command): void {
  program
    .command('version')
    .description('Print the version of Heddle and of Node.')
    .addOption(jsonOption())
    .addHelpText('after', examples('heddle version', 'heddle version --json'))
    .action(({ json }: { json?: true }) => {
      const versions = { heddle: VERSION, node: process.versions.node }
      process.stdout.write(
        json ? `${JSON.stringify(versions)}\n` : `heddle ${VERSION}, Node ${versions.node}\n`,
      )
    })
}
