import type { Log } from './log.ts'
import type { TelemetrySetting } from './settings/telemetry-setting.ts'
import { NO_TELEMETRY, type Telemetry } from './telemetry.ts'

/** Opens what the server reports its own work with; nothing is loaded where no collector is set. */
export async function openTelemetry(setting: TelemetrySetting | undefined, log: Log): Promise<Telemetry> {
  if (setting === undefined) return NO_TELEMETRY
  const { openCollector } = await import('./telemetry/collector.ts')
  log.info({ traces: setting.traces?.url, metrics: setting.metrics?.url }, 'this server reports its own work')
  return openCollector(setting, log)
}
