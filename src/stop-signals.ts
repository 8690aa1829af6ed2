/**
 * The signals that ask a process to end: of a person, of a supervisor, and of a terminal or session that closes. Node
 * gives each its default when it starts, so a process under `nohup` would end at the last one as well, without cleaning
 * up.
 */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
