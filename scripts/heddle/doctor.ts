import type { Command } from 'commander'
import { type Config, readConfig } from '../../src/config.ts'
import { messageOf } from '../../src/errors.ts'
import { type Check, type Finding, failed, ok } from './doctor/check.ts'
import { addDoctorGpu } from './doctor/gpu.ts'
import { dataOption, defaultDataFolder, examples, jsonOption } from './options.ts'

type Found = Finding & { name: string }

const MARKS = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ' } as const

/** `heddle doctor`. */
export function addDoctor(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('Look for what keeps Heddle from working, and say what to type. Changes nothing.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('heddle doctor', 'heddle doctor --data /srv/heddle --json'))
    .action(async ({ data, json }: { data?: string; json?: true }) => {
      const dataFolder = data ?? defaultDataFolder()
      const found: Found[] = []
      for (const { name, run } of await checksOf(dataFolder)) {
        const finding = { name, ...(await findingOf(run)) }
        found.push(finding)
        if (!json) process.stdout.write(textOf(finding))
      }
      const isWell = found.every(({ status }) => status !== 'failed')
      if (json) process.stdout.write(`${JSON.stringify({ ok: isWell, checks: found })}\n`)
      process.exitCode = isWell ? 0 : 1
    })
  addDoctorGpu(doctor)
}

/** With settings that cannot be read, only the data folder can be looked at. */
async function checksOf(dataFolder: string): Promise<Check[]> {
  const [{ dataChecks, storeChecks }, { environmentChecks }, { serverChecks }] = await Promise.all([
    import('./doctor/data-checks.ts'),
    import('./doctor/environment-checks.ts'),
    import('./doctor/server-checks.ts'),
  ])
  const config = configOf(dataFolder)
  const configuration: Check = {
    name: 'configuration',
    run: () =>
      typeof config === 'string'
        ? failed(config, 'correct the variable; docs/CONFIGURATION.md has them all')
        : ok('All settings are valid'),
  }
  if (typeof config === 'string') return [configuration, ...dataChecks({ dataFolder })]
  return [
    configuration,
    ...environmentChecks(config),
    ...dataChecks(config),
    ...storeChecks(config),
    ...serverChecks(config),
  ]
}

function configOf(dataFolder: string): Config | string {
  try {
    return readConfig({ ...process.env, HEDDLE_DATA: dataFolder })
  } catch (error) {
    return messageOf(error)
  }
}

async function findingOf(run: Check['run']): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    return failed(messageOf(error), 'see the message')
  }
}

function textOf({ name, status, detail, fix }: Found): string {
  const line = `${MARKS[status]}  ${name.padEnd(13)}  ${detail}\n`
  return fix === undefined ? line : `${line}${' '.repeat(24)}→ ${fix}\n`
}
