import type { Child } from '../processes/child.ts'

/** A program of the engine that runs, here or on another machine. */
export interface Program extends Omit<Child, 'pid'> {
  /** For people: what it is where it runs, such as a process. */
  place: string
}

export interface StartHooks {
  /** Aborts when the program is no longer wanted; a start that goes on then ends with its reason. */
  stopping: AbortSignal
  /** Says what a start waits for, however long that takes; undefined once it goes on. */
  onWaiting(reason: string | undefined): void
}

/** A trainer, which speaks over its standard streams. */
export interface StartedTrainer {
  program: Program
}

/** An inference server, and where it answers. */
export interface StartedServer {
  program: Program
  url: string
}

/** Starts the engine's programs for a base model. */
export interface Programs {
  /** Why no engine is available now, and what to do about it; undefined when one is. */
  readonly missing: string | undefined
  /** Its working directory is the root of the workspace, since its messages name files by their names there. */
  trainer(baseModel: string): (hooks: StartHooks) => Promise<StartedTrainer>
  /** Requires the key, which others that reach its port lack. */
  inference(baseModel: string, key: string): (hooks: StartHooks) => Promise<StartedServer>
}
