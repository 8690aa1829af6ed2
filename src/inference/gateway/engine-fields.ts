import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { limitConstraints } from '../constraints.ts'
import { REFUSED_FIELDS, type samplingFields } from '../sampling-wire.ts'

type SamplingReq = z.output<z.ZodObject<typeof samplingFields>>

/** The weights that will answer, as the engine knows them. */
export interface EngineModel {
  name: string
  /** Whether they are those of a checkpoint rather than of a base model. */
  isTrained: boolean
  /**
   * The entity that shares what the engine has cached of prompts with no other; undefined where all callers share it.
   */
  cacheOwner: string | undefined
}

/** The features that the engine is configured for. */
export interface EngineAbilities {
  priorityScheduling: boolean
  /** Whether requests may say how images, audio and video are processed. */
  mmProcessorKwargs: boolean
}

/**
 * The fields that all completions share, as the engine takes them.
 * @throws 400 for what the engine would ignore in silence, or compile for too long.
 */
export function engineFields(
  req: SamplingReq,
  engine: EngineModel,
  { priorityScheduling }: EngineAbilities,
): Record<string, unknown> {
  refuseUnsupported(req)
  if (req.priority != null && req.priority !== 0 && !priorityScheduling) {
    throw invalidRequest(
      'priority must be 0: requests are served in the order in which they come',
      'priority',
    )
  }
  limitConstraints(req)
  const { engine_xargs, vllm_xargs, user: _, logits_processors: __, ...known } = req
  return {
    ...known,
    ...Object.fromEntries(REFUSED_FIELDS.map((name) => [name, undefined])),
    repetition_detection: req.repetition_detection && withoutNulls(req.repetition_detection),
    model: engine.name,
    cache_salt: saltOf(req.cache_salt, engine),
    vllm_xargs: vllm_xargs ?? engine_xargs,
    stream_options:
      req.stream === true ? countedStream(req) : req.stream_options && withoutNulls(req.stream_options),
    structured_outputs: req.structured_outputs && constraintOf(req.structured_outputs),
    // An integer beyond every window is beyond the engine's integers too.
    truncate_prompt_tokens:
      req.truncate_prompt_tokens == null
        ? null
        : Math.min(req.truncate_prompt_tokens, Number.MAX_SAFE_INTEGER),
  }
}

/** Null and values that ask for nothing are taken. @throws 400 */
function refuseUnsupported(req: SamplingReq): void {
  for (const name of ['logits_processors', ...REFUSED_FIELDS] as const) {
    const value = req[name]
    const isEmpty = typeof value === 'object' && Object.keys(value ?? {}).length === 0
    if (value != null && value !== false && !isEmpty) throw invalidRequest(`${name} is not supported`, name)
  }
}

/** Wire: what the engine takes; it refuses others. */
const SALT = /^[^@/\\\0]{1,128}$/

/**
 * Requests share cached prompts under the same salt. The usage says how many tokens were cached, so without one, a team
 * could ask whether another has sent a prompt.
 */
function saltOf(given: string | null | undefined, { cacheOwner }: EngineModel): string | null | undefined {
  if (cacheOwner === undefined || (given != null && !SALT.test(given))) return given
  return createHash('sha256')
    .update(JSON.stringify([cacheOwner, given ?? null]))
    .digest('base64url')
}

/**
 * A constraint as the engine takes it. Wire: the field with the engine's backend is set by the engine itself; white
 * space between tokens exists in JSON only.
 * @throws 400 for options that the engine has for all requests together, or not at all.
 */
function constraintOf(options: NonNullable<SamplingReq['structured_outputs']>): Record<string, unknown> {
  const { disable_any_whitespace, whitespace_pattern, disable_fallback, ...rest } = options
  const { _backend, _backend_was_auto: _, ...constraint } = rest
  const isJson = constraint.json != null || constraint.json_object === true
  const refused = Object.entries({
    disable_any_whitespace:
      isJson && disable_any_whitespace === true && 'the engine cannot leave white space out of one answer',
    whitespace_pattern: isJson && whitespace_pattern != null && 'the engine has no pattern for white space',
    disable_fallback: disable_fallback === true && 'the engine itself chooses what can keep to a constraint',
    _backend:
      _backend != null && _backend !== 'auto' && 'the engine itself chooses what can keep to a constraint',
  }).find(([, reason]) => reason !== false)
  if (refused === undefined) return withoutNulls(constraint)
  const [name, reason] = refused
  throw invalidRequest(`structured_outputs.${name} is not supported: ${reason}`, 'structured_outputs')
}

/** Every stream is counted; the usage is removed for clients that did not ask for it. */
function countedStream(req: SamplingReq): Record<string, boolean> {
  const continuous_usage_stats = wantsUsage(req) && (req.stream_options?.continuous_usage_stats ?? false)
  return { include_usage: true, continuous_usage_stats }
}

/** Wire: null means absent, but the engine refuses null for some fields. */
export function withoutNulls(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
}

/** Wire: `stream_options` alone asks for usage; each of its members may say otherwise. */
function wantsUsage({ stream_options }: SamplingReq): boolean {
  return stream_options != null && (stream_options.include_usage ?? true)
}

/** Whether the reply is streamed. */
export function streamOf(req: SamplingReq): 'none' | 'with-usage' | 'without-usage' {
  if (req.stream !== true) return 'none'
  return wantsUsage(req) ? 'with-usage' : 'without-usage'
}

/** Wire: the name in the header wins over the one in the body. */
export function requestIdOf(req: SamplingReq, { requestId, header }: CallContext): string | undefined {
  return header('x-request-id') === requestId ? requestId : (req.request_id ?? undefined)
}
