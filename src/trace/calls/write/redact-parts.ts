import { JsonText } from '../../../json/lossless-json.ts'
import type { Redactable } from '../../../redaction/redaction-job.ts'
import type { Redaction, Redactor } from '../../../redaction/service.ts'
import { isRef } from '../../ref-uri.ts'
import { PAYLOADS } from '../sql/table.ts'
import { type CallPart, truncatedUnlessEqual } from './parts.ts'

/** Texts that clients choose freely. Names of ops that are refs, ids and users are kept: others refer to them. */
const TEXTS = ['op_name', 'display_name', 'thread_id', 'turn_id', 'exception'] as const

/** The parts as they may be stored: each project's by its rules. @throws as `Redactor.redact` */
export async function redactedParts(
  parts: readonly CallPart[],
  redaction: Pick<Redaction, 'of'>,
): Promise<readonly CallPart[]> {
  const byProject = Map.groupBy(parts, (part) => part.project_id)
  const redactors = new Map<string, Redactor>()
  for (const projectId of byProject.keys()) {
    const redactor = await redaction.of(projectId)
    if (redactor !== undefined) redactors.set(projectId, redactor)
  }
  if (redactors.size === 0) return parts
  const redacted: (readonly CallPart[])[] = []
  for (const [projectId, own] of byProject) redacted.push(await redactedOf(own, redactors.get(projectId)))
  return redacted.flat()
}

async function redactedOf(
  parts: readonly CallPart[],
  redactor: Redactor | undefined,
): Promise<readonly CallPart[]> {
  if (redactor === undefined) return parts
  const fields = parts.map(fieldsOf)
  const texts = (await redactor.redact(fields.flat())).values()
  return parts.map((part, index) => {
    const changes: Partial<CallPart> = {}
    for (const { column, text } of fields[index] ?? []) {
      const redacted = texts.next().value ?? ''
      if (redacted !== text) Object.assign(changes, { [column]: redacted }, derivedOf(part, column, redacted))
    }
    return { ...part, ...changes }
  })
}

type Column = (typeof PAYLOADS)[number] | (typeof TEXTS)[number]
type Field = Redactable & { column: Column }

function fieldsOf(part: CallPart): Field[] {
  const payloads = PAYLOADS.map((column) => fieldOf(part, column, { form: 'json', document: column }))
  const texts = TEXTS.map((column) => fieldOf(part, column, { form: 'text' }))
  return [...payloads, ...texts].filter((field) => field !== undefined)
}

function fieldOf(part: CallPart, column: Column, how: Omit<Redactable, 'text'>): Field | undefined {
  const text = part[column]
  if (text === undefined || text === '' || (column === 'op_name' && isRef(text))) return undefined
  return { ...how, column, text }
}

/** What a part has besides a payload, which is made of it. */
function derivedOf(part: CallPart, column: Column, text: string): Partial<CallPart> {
  if (column === 'inputs')
    return {
      inputs_excerpt: truncatedUnlessEqual(new JsonText(text)),
      input_refs: refsLeft(part.input_refs, text),
    }
  if (column === 'output')
    return {
      output_excerpt: truncatedUnlessEqual(new JsonText(text)),
      output_refs: refsLeft(part.output_refs, text),
    }
  return {}
}

/** A ref that was redacted is none any more. In JSON, slashes may have backslashes. */
function refsLeft(refs: readonly string[] | undefined, payload: string): string[] {
  if (refs === undefined || refs.length === 0) return []
  const text = payload.replaceAll('\\/', '/')
  return refs.filter((ref) => text.includes(ref))
}
