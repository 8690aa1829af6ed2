import type { Redactable } from '../../redaction/redaction-job.ts'
import type { Redaction, Redactor } from '../../redaction/service.ts'
import type { FeedbackCreateReq } from './wire.ts'

/** Feedback as it is stored; its payload is JSON text. */
export interface StoredRow extends Omit<FeedbackCreateReq, 'id' | 'payload'> {
  [column: string]: unknown
  id: string
  created_at: string
  wb_user_id: string
  payload: string
}

/** What scorers say in words, each by the name of a tag or rating. */
const REASONS = ['scorer_tag_reasons', 'scorer_rating_reasons'] as const

/** The rows as they may be stored: each project's by its rules. @throws as `Redactor.redact` */
export async function redactedRows(
  rows: readonly StoredRow[],
  redaction: Pick<Redaction, 'of'>,
): Promise<StoredRow[]> {
  const redacted: StoredRow[] = []
  for (const row of rows) {
    const redactor = await redaction.of(row.project_id)
    redacted.push(redactor === undefined ? row : await redactedRow(row, redactor))
  }
  return redacted
}

async function redactedRow(row: StoredRow, redactor: Redactor): Promise<StoredRow> {
  const named = REASONS.flatMap((column) =>
    Object.entries(row[column] ?? {}).map(([name, text]) => ({ column, name, text })),
  )
  const values: Redactable[] = [
    { form: 'json', text: row.payload, document: 'payload' },
    { form: 'text', text: row.creator ?? '' },
    ...named.map(({ text }): Redactable => ({ form: 'text', text })),
  ]
  const [payload = '', creator = '', ...texts] = await redactor.redact(values)
  const reasons = named.map((reason, index) => ({ ...reason, text: texts[index] ?? '' }))
  return {
    ...row,
    payload,
    creator: row.creator == null ? null : creator,
    ...Object.fromEntries(
      REASONS.filter((column) => row[column] != null).map((column) => [
        column,
        Object.fromEntries(
          reasons.filter((reason) => reason.column === column).map(({ name, text }) => [name, text]),
        ),
      ]),
    ),
  }
}
