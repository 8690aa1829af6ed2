import { idOf } from '../scenario.ts'

/** A finished call with the least that one has; `name` makes its ids. */
export function finishedCall(project: string, name: string, fields: Record<string, unknown> = {}) {
  return {
    ...startedCall(project, name),
    ended_at: '2024-01-01T00:00:30Z',
    output: null,
    summary: {},
    ...fields,
  }
}

/** The start of a call. */
export function startedCall(project: string, name: string, fields: Record<string, unknown> = {}) {
  return {
    project_id: project,
    id: idOf(`${project} ${name}`),
    trace_id: idOf(`${project} trace of ${name}`),
    op_name: name,
    started_at: '2024-01-01T00:00:00Z',
    attributes: {},
    inputs: {},
    ...fields,
  }
}

/** The end of a call. */
export function endedCall(project: string, name: string, fields: Record<string, unknown> = {}) {
  return {
    project_id: project,
    id: idOf(`${project} ${name}`),
    ended_at: '2024-01-01T00:00:02Z',
    output: { done: true },
    summary: {},
    ...fields,
  }
}
