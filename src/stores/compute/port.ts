import { ClientError } from '../../errors.ts'

/**
 * What computes: trainer workers and inference servers, one of each per base model, started when first needed and
 * kept alive. Adapters: local.ts (child processes of this server).
 */

/** `failed`: several starts in a row went wrong; starting is still tried, at long intervals. */
export type PartState = 'idle' | 'starting' | 'ready' | 'restarting' | 'failed' | 'stopped'

/** How one part of the engine is, for people and for health checks. */
export interface PartStatus {
  name: string
  state: PartState
  /** ISO 8601. */
  since: string
  last_error: string | null
  /** The newest lines of its output. */
  last_lines: string[]
}

/** The process behind a request is gone: it ended, hung and was ended, or cannot be started. */
export class PartLost extends ClientError {
  /** `unsent`: the process never saw the request, so whoever has time may send it to the next one. */
  readonly request: 'sent' | 'unsent'

  constructor(message: string, options: { cause?: unknown; request?: 'unsent' } = {}) {
    super(503, 'ServiceUnavailableError', message, { ...options, retryAfterSeconds: 5 })
    this.request = options.request ?? 'sent'
  }
}

/** A warm trainer worker: takes one request at a time. */
export interface Trainer {
  status(): PartStatus
  /**
   * Waits until the worker is ready, sends `request` and yields every message that follows, until the caller stops
   * iterating. A worker that stays silent meanwhile counts as hanging and is replaced.
   * @throws PartLost with a reason a person understands.
   */
  run(request: object, signal: AbortSignal): AsyncIterable<unknown>
  /** Sends a message to the worker that is busy with a request; dropped when there is none. */
  send(message: object): void
}

/** A reply whose body has not been read. */
export interface EngineReply {
  status: number
  body: AsyncIterable<Uint8Array>
}

/** One life of an inference server: what was loaded into it is gone when it ends. */
export interface InferenceProcess {
  /**
   * Posts JSON text; aborting the signal closes the connection, which ends the generation.
   * @throws PartLost when the process is gone, also while the body is read.
   */
  post(path: string, body: string, signal: AbortSignal): Promise<EngineReply>
}

export interface Inference {
  status(): PartStatus
  /** The running process, once it answers. @throws PartLost when it cannot be started; the signal's reason. */
  ready(signal: AbortSignal): Promise<InferenceProcess>
}

export interface Compute extends AsyncDisposable {
  /** Why nothing can be computed here, and what to do about it; undefined when it can. */
  readonly unavailable: string | undefined
  readonly accelerator: 'cpu' | 'gpu'
  /** The largest rank of an adapter that the inference servers take. */
  readonly loraRankMax: number
  /** Starts the worker of a base model if it is not running. @throws PartLost when this machine takes no more. */
  trainer(baseModel: string): Trainer
  /** Starts the server of a base model if it is not running. @throws PartLost when this machine takes no more. */
  inference(baseModel: string): Inference
  /** Every part that was ever asked for. */
  statuses(): PartStatus[]
}
