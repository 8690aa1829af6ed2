import { z } from 'zod'
import { AnyJson, JsonObject } from '../../../wire/json-text-wire.ts'

const DateTime = z.string().meta({ format: 'date-time' })
const NullishString = z.string().nullish()
const Step = z.int().nonnegative().nullish()

export const CallStart = z
  .object({
    project_id: z.string(),
    id: NullishString,
    trace_id: NullishString,
    op_name: z.string(),
    display_name: NullishString,
    parent_id: NullishString,
    thread_id: NullishString,
    turn_id: NullishString,
    started_at: DateTime,
    attributes: JsonObject,
    inputs: JsonObject,
    otel_dump: JsonObject.nullish(),
    wb_run_id: NullishString,
    wb_run_step: Step,
  })
  .meta({ id: 'CallStart' })
export type CallStart = z.output<typeof CallStart>

export const CallEnd = z
  .object({
    project_id: z.string(),
    id: z.string(),
    ended_at: DateTime,
    exception: NullishString,
    output: AnyJson.nullish(),
    summary: JsonObject,
    wb_run_step_end: Step,
    started_at: DateTime.nullish(),
    trace_id: NullishString,
  })
  .meta({ id: 'CallEnd' })
export type CallEnd = z.output<typeof CallEnd>

export const CallComplete = z
  .object({ ...CallStart.shape, ...CallEnd.shape, trace_id: z.string(), started_at: DateTime })
  .meta({ id: 'CallComplete' })
export type CallComplete = z.output<typeof CallComplete>

export const Call = z
  .object({
    id: z.string(),
    project_id: z.string(),
    op_name: z.string(),
    display_name: z.string().nullable(),
    trace_id: z.string(),
    parent_id: z.string().nullable(),
    thread_id: z.string().nullable(),
    turn_id: z.string().nullable(),
    started_at: DateTime,
    ended_at: DateTime.nullable(),
    exception: z.string().nullable(),
    attributes: JsonObject,
    inputs: JsonObject,
    output: AnyJson.nullable(),
    summary: JsonObject,
    wb_user_id: z.string().nullable(),
    wb_username: z.string().optional(),
    wb_run_id: z.string().nullable(),
    wb_run_step: z.int().nullable(),
    wb_run_step_end: z.int().nullable(),
    deleted_at: DateTime.nullable(),
    expire_at: DateTime.nullable(),
    storage_size_bytes: z.int().nullable(),
    total_storage_size_bytes: z.int().nullable(),
  })
  .meta({ id: 'Call' })
export type Call = z.output<typeof Call>
