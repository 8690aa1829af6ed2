import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { insertAlert, lastAlertAt, listAlerts, type RunAlertRow, type RunRow, trimAlerts } from './queries.ts'

/** Alerts kept for a run: a run that sends more uses them as a log. */
const ALERTS_MAX = 1_000

/** Characters of a title and of a text. Wire: the client cuts titles at 64 and texts at 4096. */
const TITLE_CHARS_MAX = 256
const TEXT_CHARS_MAX = 16_384

/** Wire: the client's default pause between alerts of one title is a minute. */
const WAIT_MS = 60_000

export interface NewAlert {
  title: string
  text: string
  severity: RunAlertRow['severity']
  /** Alerts of the same title within this time are dropped; a minute where absent. */
  waitMs?: number | undefined
}

/** Alerts of runs. */
export interface RunAlerts {
  /** Stores an alert; resolves with whether it was stored, and not one of the same title just before. */
  alert(run: Pick<RunRow, 'id'>, given: NewAlert): Promise<boolean>
  /** The newest alerts of a run, newest first. */
  alerts(run: Pick<RunRow, 'id'>): Promise<RunAlertRow[]>
}

export function createRunAlerts({ control }: { control: ControlDb }): RunAlerts {
  return {
    alert: (run, { title, text, severity, waitMs }) =>
      control.transaction().execute(async (tx) => {
        const cut = title.slice(0, TITLE_CHARS_MAX)
        const before = await lastAlertAt(tx, run.id, cut)
        if (before !== undefined && Date.now() - Date.parse(before) < (waitMs ?? WAIT_MS)) return false
        const row = { run_id: run.id, title: cut, text: text.slice(0, TEXT_CHARS_MAX), severity }
        await insertAlert(tx, { id: newId(), ...row, created_at: nowIso() })
        await trimAlerts(tx, run.id, ALERTS_MAX)
        return true
      }),
    alerts: (run) => listAlerts(control, run.id, ALERTS_MAX),
  }
}
