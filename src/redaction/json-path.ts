import { invalidRequest } from '../errors.ts'
import { DocumentName } from './wire.ts'

/** One level of a path: a member, an element, or any of both. */
type Step = { name: string } | { index: number } | 'any'

/** A path into one kind of document: `$.inputs.messages[*].content`, `$.val['a.b'].*`. */
export interface JsonPath {
  document: DocumentName
  steps: readonly Step[]
}

const DOCUMENT = /^\$\.(\w+)/
const STEP = /\.(\*|[^.[\]'"*\s]+)|\[(\d{1,9}|\*)\]|\[(?:'([^']*)'|"([^"]*)")\]/y

/** @throws 400 for what is no such path. */
export function parsePath(path: string): JsonPath {
  const document = DocumentName.safeParse(DOCUMENT.exec(path)?.[1])
  if (!document.success)
    throw invalidRequest(`a path begins with $. and one of ${DocumentName.options.join(', ')}`)
  const steps: Step[] = []
  for (STEP.lastIndex = 2 + document.data.length; STEP.lastIndex < path.length; ) {
    const found = STEP.exec(path)
    if (found === null) throw invalidRequest("a path has .name, [index], [*], .* and ['name'] only")
    steps.push(stepOf(found))
  }
  // All other documents are objects, and remain ones.
  if (steps.length === 0 && document.data !== 'output')
    throw invalidRequest(`a path names something within $.${document.data}`)
  return { document: document.data, steps }
}

function stepOf([, name, index, single, double]: RegExpExecArray): Step {
  if (name === '*' || index === '*') return 'any'
  if (index !== undefined) return { index: Number(index) }
  return { name: name ?? single ?? double ?? '' }
}

/** Whether a step leads to the member of this name, or the element of this index. */
export function leadsTo(step: Step | undefined, key: string | number): boolean {
  if (step === undefined) return false
  if (step === 'any') return true
  return 'name' in step ? step.name === key : step.index === key
}
