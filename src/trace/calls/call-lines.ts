import { callMembers, payloadSql, type ShownColumns } from './call-members.ts'
import { summaryKeeping } from './call-text.ts'
import { DISPLAY_NAME, LATENCY_MS, NEVER, STATUS, TRACE_NAME } from './fields.ts'

/**
 * Columns, and how the database makes of them the same texts as `callTexts`. Planning the columns takes milliseconds, so
 * it is for many calls; then nothing is left to do here but to pass bytes on, and for few calls to merge summaries.
 */
export function callLines(shown: ShownColumns): { columns: string; row: string } {
  const columns: string[] = []
  /** A column's place in the text of a row; `Raw` is JSON already. */
  const place = (sql: string, as: 'JSON' | 'Raw'): string =>
    `\${line_${columns.push(`${sql} AS line_${columns.length}`) - 1}:${as}}`

  const members = callMembers(shown).map(({ name, column }) => {
    if (column === undefined) return `"${name}":null,`
    if (column.form === 'omitted')
      return place(
        `if(${column.sql} = '', '', concat('"${name}":', toJSONString(${column.sql}), ','))`,
        'Raw',
      )
    const value = column.form === 'optional' ? `nullIf(${column.sql}, '')` : column.sql
    return `"${name}":${place(value, 'JSON')},`
  })
  const payload = (column: 'attributes' | 'inputs' | 'output'): string =>
    `"${column}":${place(payloadSql(column, shown), 'Raw')},`
  const latency = `if(ended_at = ${NEVER}, '', concat(',"latency_ms":', toString(${LATENCY_MS})))`
  const name = `if(isNull(${DISPLAY_NAME}), 'trace_name', 'display_name')`
  const derived = `"status":${place(STATUS, 'JSON')}${place(latency, 'Raw')},"${place(name, 'Raw')}":${place(TRACE_NAME, 'JSON')}`
  const summary = `"summary":${place(openSummary(payloadSql('summary', shown)), 'Raw')}"weave":{${derived}}}`
  const row = `{${members.join('')}${payload('attributes')}${payload('inputs')}${payload('output')}${summary}}\n`
  return { columns: columns.join(', '), row }
}

/** Stands around a summary that has to be merged; JSON has no such byte. */
const MARK = 0x01

/** SQL for a summary up to where its last member comes. */
function openSummary(summary: string): string {
  const open = `substring(${summary}, 1, length(${summary}) - 1)`
  const mark = `char(${MARK})`
  return `multiIf(position(${summary}, '"weave"') > 0, concat(${mark}, ${summary}, ${mark}),
    endsWith(trim(TRAILING ' \\t' FROM ${open}), '{'), ${open}, concat(${open}, ','))`
}

/** Texts that the database has written by {@link callLines}, with what clients keep in their summaries under `weave`. */
export function mergeSummaries(texts: Buffer): Buffer {
  const pieces: Buffer[] = []
  let written = 0
  for (let open = texts.indexOf(MARK); open !== -1; open = texts.indexOf(MARK, written)) {
    const close = texts.indexOf(MARK, open + 1)
    const end = texts.indexOf(END_OF_CALL, close)
    const summary = texts.toString('utf8', open + 1, close)
    const derived = texts.toString('utf8', close + 1 + '"weave":'.length, end)
    pieces.push(texts.subarray(written, open), Buffer.from(summaryKeeping(summary, derived)))
    written = end + 1
  }
  return written === 0 ? texts : Buffer.concat([...pieces, texts.subarray(written)])
}

/** The braces of a summary and of its call. */
const END_OF_CALL = '}}\n'
