import { DISPLAY_NAME, LATENCY_MS, STATUS, TRACE_NAME } from '../sql/derived.ts'
import { NEVER } from '../sql/table.ts'
import { summaryKeeping } from './call-text.ts'
import { callMembers, type MemberForm, payloadSql, type ShownColumns } from './members.ts'

/**
 * SQL for the line that `renderRows` makes of a call. Planning it takes the database some milliseconds, so it is used
 * for many calls; this process then only passes bytes on, and merges the summaries of few calls ({@link finishLines}).
 */
export function lineSql(shown: ShownColumns): string {
  const members = callMembers(shown).flatMap(({ name, column }) => {
    if (column === undefined) return text(`"${name}":null,`)
    if (column.form === 'omitted')
      return `if(${column.sql} = '', '', concat('"${name}":', toJSONString(${column.sql}), ','))`
    return [text(`"${name}":`), jsonOrNull(column), text(',')]
  })
  const payloads = (['attributes', 'inputs', 'output'] as const).flatMap((column) => [
    text(`"${column}":`),
    payloadSql(column, shown),
    text(','),
  ])
  const name = `if(isNull(${DISPLAY_NAME}), ',"trace_name":', ',"display_name":')`
  const latency = `if(ended_at = ${NEVER}, '', concat(',"latency_ms":', toString(assumeNotNull(${LATENCY_MS}))))`
  const pieces = [
    text('{'),
    ...members,
    ...payloads,
    text('"summary":'),
    openSummary(payloadSql('summary', shown)),
    text('"weave":{"status":"'),
    STATUS,
    text('"'),
    latency,
    name,
    `toJSONString(assumeNotNull(${TRACE_NAME}))`,
    String.raw`'}}}\n'`,
  ]
  return `concat(${pieces.join(', ')})`
}

/** A text literal in SQL, of characters that need no escapes. */
function text(characters: string): string {
  return `'${characters}'`
}

/** SQL for the JSON of a member, `null` where it is absent. */
function jsonOrNull({ sql, form }: { sql: string; form: MemberForm }): string {
  if (form === 'text' || form === 'time') return `toJSONString(${sql})`
  if (form === 'optional') return `if(${sql} = '', 'null', toJSONString(${sql}))`
  return `ifNull(toJSONString(${sql}), 'null')`
}

/** Marks both ends of a summary that has to be merged; JSON has no such byte. */
const MARK = 0x01

/** SQL for a summary up to the position of its last member. */
function openSummary(summary: string): string {
  const open = `substring(${summary}, 1, length(${summary}) - 1)`
  const mark = `char(${MARK})`
  return `multiIf(position(${summary}, '"weave"') > 0, concat(${mark}, ${summary}, ${mark}),
    endsWith(trim(TRAILING ' \\t' FROM ${open}), '{'), ${open}, concat(${open}, ','))`
}

/** Completes lines that the database wrote by {@link lineSql}, with the values of clients under `summary.weave`. */
export function finishLines(texts: Buffer): Buffer {
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
