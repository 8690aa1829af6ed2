import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { JsonText, memberText, stringify } from '../../json/lossless-json.ts'
import { nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'

/** A call at its start. */
export interface AskedCall {
  project_id: string
  op_name:
    | 'chat.completions.create'
    | 'completions.create'
    | 'weave.completions_create'
    | 'weave.image_generation_create'
  inputs: { model: string }
  trace_id?: string | null | undefined
  parent_id?: string | null | undefined
  /** Calls of one conversation are one thread. */
  conversation_id?: string | null | undefined
  attributes?: object
  /** Now, where absent. */
  started_at?: string
}

/** A call that has started. */
export interface LoggedCall {
  id: string
  trace_id: string
  /** `output` is the model's answer, as far as it arrived. */
  end(outcome: { output?: string | undefined; exception?: string | undefined }): Promise<void>
}

/**
 * Writes the start of a call. Where that is done before the model is asked, a call is there even if the server ends
 * before the answer.
 */
export async function startCall(
  calls: Pick<Calls, 'start' | 'end'>,
  asked: AskedCall,
  context: CallContext,
): Promise<LoggedCall> {
  const { project_id, op_name, inputs, parent_id, conversation_id } = asked
  const id = newId()
  const start = {
    project_id,
    id,
    op_name,
    parent_id,
    trace_id: asked.trace_id,
    thread_id: conversation_id,
    // Wire: the id of the call that begins a turn of a thread is the turn's id.
    turn_id: conversation_id != null && parent_id == null ? id : undefined,
    started_at: asked.started_at ?? nowIso(),
    attributes: new JsonText(stringify(asked.attributes ?? {})),
    inputs: new JsonText(stringify(inputs)),
  }
  const { trace_id } = await calls.start({ start }, context)
  return {
    id,
    trace_id,
    async end({ output, exception }) {
      const usage = output === undefined ? undefined : memberText(output, 'usage')
      const isCounted = usage !== undefined && usage !== 'null'
      const summary = isCounted ? { usage: { [inputs.model]: new JsonText(usage) } } : {}
      await calls.end({
        end: {
          project_id,
          id,
          ended_at: nowIso(),
          exception,
          output: output === undefined ? undefined : new JsonText(output),
          summary: new JsonText(stringify(summary)),
        },
      })
    },
  }
}
