import { z } from 'zod'
import { placeOf, requireRight } from '../../access.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { memberText } from '../../json/lossless-json.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { refOf, versionNamed } from '../../trace/ref-uri.ts'
import type { Tables } from '../../trace/tables/service.ts'
import { objectRef } from '../../trace/typed-objects/group.ts'
import { FIRST_ISSUE } from '../../wire/lax-parse.ts'
import { TrainingLine } from './wire.ts'

const Dataset = z.looseObject({ _class_name: z.literal('Dataset'), rows: z.string() })

/** A version of a dataset as JSON Lines. */
export interface DatasetLines {
  /** With the digest, whatever version was requested. */
  ref: string
  /** @throws 400 that names the first row that is not a conversation. */
  bytes: () => AsyncGenerator<Uint8Array>
}

/**
 * Finds the version of a dataset that a ref names.
 * @throws 400 for anything but a ref to a dataset with a table, 404 for an unknown one.
 */
export async function datasetLines(
  { objects, tables }: { objects: Pick<Objects, 'read'>; tables: Pick<Tables, 'queryStream'> },
  url: string,
  context: CallContext,
): Promise<DatasetLines> {
  const ref = refOf(url)
  if (ref?.kind !== 'object' || ref.edges.length > 0) throw notDataset(url)
  const named = versionNamed(ref)
  const { project_id, object_id } = named
  requireRight(context.caller.rights, 'read', placeOf(project_id))
  const { obj } = await objects.read(named)
  const dataset = Dataset.safeParse(obj.val?.value())
  const table = dataset.success ? refOf(dataset.data.rows) : undefined
  if (table?.kind !== 'table' || table.projectId !== project_id) throw notDataset(url)
  const query = { project_id, digest: table.name }
  return {
    ref: objectRef(project_id, { object_id, digest: obj.digest }),
    async *bytes() {
      let line = 0
      for await (const { val } of await tables.queryStream(query, context)) {
        line++
        if (!TrainingLine.safeParse(val.value(), FIRST_ISSUE).success)
          throw invalidRequest(`Row ${line} of the dataset has no list of messages`, 'training_data_url')
        yield Buffer.from(`${trainedPart(val.text)}\n`)
      }
    },
  }
}

/** Only what the trainer reads: rows that differ in their source alone give the same bytes. It refuses `functions`. */
function trainedPart(row: string): string {
  const members = ['messages', 'messages_and_choices', 'tools', 'functions'].flatMap((name) => {
    const text = memberText(row, name)
    return text === undefined ? [] : [`"${name}":${text}`]
  })
  return `{${members.join(',')}}`
}

function notDataset(url: string): Error {
  return invalidRequest(
    `Not a version of a dataset with a table of rows: ${url.slice(0, 200)}`,
    'training_data_url',
  )
}
