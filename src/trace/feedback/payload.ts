import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import { type JsonText, memberText, withMember } from '../../json/lossless-json.ts'
import { runRule } from '../../rule-threads/run-rule.ts'
import { parseRef } from '../ref-uri.ts'
import { nameEmoji } from './emoji.ts'
import type { FeedbackCreateReq } from './wire.ts'

/** Wire: a payload is at most this long. */
const PAYLOAD_BYTES_MAX = 1024 * 1024

/** Wire: a note is at most this long. */
const NOTE_CHARS_MAX = 1024

const ANNOTATION = 'wandb.annotation.'
const RUNNABLE = 'wandb.runnable.'

const Reaction = z.object({ emoji: z.string() })
const Note = z.object({ note: z.string().min(1).max(NOTE_CHARS_MAX) })

/** Reads the value of the object of a ref. */
export type ReadObject = (projectId: string, objectId: string, version: string) => Promise<JsonText | null>

/**
 * The payload as it is stored: checked as its type requires, and reactions with the names of their emoji.
 * @throws 400 for payloads that the type does not allow.
 */
export async function checkedPayload(feedback: FeedbackCreateReq, readObject: ReadObject): Promise<string> {
  const { feedback_type: type, payload } = feedback
  checkSize(feedback)
  refuseRefs(feedback)
  if (type === 'wandb.reaction.1') return reaction(payload)
  if (type === 'wandb.note.1' && !Note.safeParse(payload.value()).success) {
    throw invalidRequest(`A note has a text of 1 to ${NOTE_CHARS_MAX} characters`)
  }
  if (type.startsWith(ANNOTATION)) await checkAnnotation(feedback, readObject)
  if (type.startsWith(RUNNABLE)) checkRunnable(feedback)
  return payload.text
}

/** Values beside the payload, such as a scorer's reasons, may be as large as it. @throws 400 for what is larger. */
export function checkSize({ payload, ...members }: FeedbackCreateReq): void {
  if (Buffer.byteLength(payload.text) > PAYLOAD_BYTES_MAX) {
    throw invalidRequest(`Feedback payload is larger than ${PAYLOAD_BYTES_MAX} bytes`)
  }
  if (Buffer.byteLength(JSON.stringify(members)) > PAYLOAD_BYTES_MAX)
    throw invalidRequest(`What feedback says beside its payload is larger than ${PAYLOAD_BYTES_MAX} bytes`)
}

/** Only annotations and runnables have refs to their source. */
function refuseRefs(feedback: FeedbackCreateReq): void {
  const type = feedback.feedback_type
  const allowed = type.startsWith(ANNOTATION)
    ? ['annotation_ref']
    : type.startsWith(RUNNABLE)
      ? ['runnable_ref', 'call_ref', 'trigger_ref']
      : []
  for (const name of ['annotation_ref', 'runnable_ref', 'call_ref', 'trigger_ref'] as const) {
    if (feedback[name] != null && !allowed.includes(name)) {
      throw invalidRequest(`${name} is not allowed for feedback type ${type}`)
    }
  }
}

function reaction(payload: JsonText): string {
  const parsed = Reaction.safeParse(payload.value())
  const named = parsed.success ? nameEmoji(parsed.data.emoji) : undefined
  if (named === undefined) throw invalidRequest('A reaction has exactly one emoji')
  return ['alias', 'detoned', 'detoned_alias'].reduce(
    (text, name) => withMember(text, name, JSON.stringify(Reflect.get(named, name))),
    payload.text,
  )
}

async function checkAnnotation(feedback: FeedbackCreateReq, readObject: ReadObject): Promise<void> {
  const { feedback_type: type, annotation_ref: ref, payload, project_id } = feedback
  if (ref == null) throw invalidRequest(`annotation_ref is required for feedback type ${type}`)
  const spec = parseRef(ref)
  if (spec.kind !== 'object' || spec.version === undefined || spec.projectId !== project_id) {
    throw invalidRequest('annotation_ref must be an object of this project')
  }
  if (spec.name !== type.slice(ANNOTATION.length)) {
    throw invalidRequest(`annotation_ref names ${spec.name}, the feedback type ${type}`)
  }
  const value = memberText(payload.text, 'value')
  if (value === undefined) throw invalidRequest('An annotation has a value')
  const stored = await readObject(project_id, spec.name, spec.version)
  const schema = stored === null ? undefined : memberText(stored.text, 'field_schema')
  if (schema !== undefined && !(await conforms(project_id, JSON.parse(value), JSON.parse(schema)))) {
    throw invalidRequest(`The value does not conform to the schema of ${spec.name}`)
  }
}

/** @throws 400 when the schema itself is invalid. */
async function conforms(projectId: string, value: unknown, schema: unknown): Promise<boolean> {
  if (schema === null) return true
  if (typeof schema !== 'object') throw invalidRequest('field_schema is not a JSON schema')
  return (await runRule(projectId, { kind: 'schema', schema, value })) === true
}

function checkRunnable(feedback: FeedbackCreateReq): void {
  const { feedback_type: type, runnable_ref: ref, call_ref, trigger_ref, payload } = feedback
  if (ref == null) throw invalidRequest(`runnable_ref is required for feedback type ${type}`)
  const runnable = parseRef(ref)
  if (runnable.kind !== 'op' && runnable.kind !== 'object') {
    throw invalidRequest('runnable_ref must be an op or an object')
  }
  if (runnable.name !== type.slice(RUNNABLE.length)) {
    throw invalidRequest(`runnable_ref names ${runnable.name}, the feedback type ${type}`)
  }
  if (memberText(payload.text, 'output') === undefined) throw invalidRequest('A runnable has an output')
  if (runnable.kind === 'op' && call_ref == null)
    throw invalidRequest('call_ref is required when an op was run')
  if (call_ref != null && parseRef(call_ref).kind !== 'call') throw invalidRequest('call_ref must be a call')
  if (trigger_ref != null && parseRef(trigger_ref).kind !== 'object')
    throw invalidRequest('trigger_ref must be an object')
}
