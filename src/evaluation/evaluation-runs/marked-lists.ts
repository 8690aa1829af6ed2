import type { CallContext } from '../../http/caller.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import type { Operation } from '../../trace/query-language/wire.ts'
import type { ListOfRunReq } from './wire.ts'

type Mark = 'prediction' | 'score'

/** Wire: predictions and scores are identified by a mark among their attributes. */
export function marked(mark: Mark): Operation {
  return isMarked(mark, 'true')
}

function isMarked(name: string, value: string): Operation {
  return { $eq: [{ $getField: `attributes.weave.${name}` }, { $literal: value }] }
}

/** Lists of predictions or scores: all of a project, or those of one run. */
export interface MarkedLists {
  list(req: ListOfRunReq, mark: Mark, context: CallContext): Promise<AsyncIterable<Call>>
}

export function createMarkedLists({ calls }: { calls: Calls }): MarkedLists {
  async function list(req: ListOfRunReq, mark: Mark, context: CallContext): Promise<AsyncIterable<Call>> {
    const project_id = projectIdOf(req)
    const { limit, offset, evaluation_run_id: id } = req
    // Wire: an empty id counts as none.
    if (!id) {
      return calls.list({ project_id, query: { $expr: marked(mark) }, limit, offset }, context)
    }
    const { call: run } = await calls.read({ project_id, id }, context)
    // A run's own calls are in its trace, so that not every call of the project has to be read.
    const filter = { trace_ids: [run?.trace_id ?? id] }
    const query = { $expr: { $and: [marked(mark), isMarked('evaluation_run_id', id)] } }
    return calls.list({ project_id, filter, query, limit, offset }, context)
  }

  return { list }
}
