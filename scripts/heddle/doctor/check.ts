/** What a check has found. */
export interface Finding {
  /** A warning is no failure: something is missing that not everyone needs. */
  status: 'ok' | 'warning' | 'failed'
  /** What is so. */
  detail: string
  /** What to type or to do; absent where all is well. */
  fix?: string
}

/** A check of one thing. It changes nothing. What it throws is a failure with that message. */
export interface Check {
  name: string
  run(): Promise<Finding> | Finding
}

export function ok(detail: string): Finding {
  return { status: 'ok', detail }
}

export function warning(detail: string, fix: string): Finding {
  return { status: 'warning', detail, fix }
}

export function failed(detail: string, fix: string): Finding {
  return { status: 'failed', detail, fix }
}
