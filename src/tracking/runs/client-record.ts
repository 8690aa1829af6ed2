import { isRecord } from '../../json/is-record.ts'
import { parseLine } from '../metrics/json-lines.ts'

/** Wire: what clients record about themselves in `_wandb` of a config. */
export function clientRecordOf(config: string): Record<string, unknown> {
  const entry = parseLine(config)?.['_wandb']
  return isRecord(entry) && isRecord(entry['value']) ? entry['value'] : {}
}

/** What a config says by name. Wire: it has an object with the `value` for each name. */
export function configValues(config: string): Record<string, unknown> {
  const entries = Object.entries(parseLine(config) ?? {}).map(([name, entry]): [string, unknown] => [
    name,
    isRecord(entry) && 'value' in entry ? entry['value'] : entry,
  ])
  return Object.fromEntries(entries)
}

/** The run that one of this name and config was forked from. Wire: a run that is rewound names itself. */
export function forkedFrom(name: string, config: string): string | undefined {
  const branch = clientRecordOf(config)['branch_point']
  const from = isRecord(branch) ? branch['run_id'] : undefined
  return typeof from === 'string' && from !== name ? from : undefined
}
