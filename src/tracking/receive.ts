import type { Content, Contents } from '../contents.ts'
import { invalidRequest } from '../errors.ts'
import { newId } from '../ids.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/tables.ts'

/** Owners of bytes that are still on their way; after a crash nobody needs what they own. */
const RECEIVING_OWNER = 'receiving:'

/**
 * Keeps the bytes of a stream and says so in one transaction; of what breaks off or is refused nothing stays.
 * @throws 400 when the bytes do not have the MD5 that was announced, 413 beyond `bytesMax`.
 */
export async function receive(
  { control, contents }: { control: ControlDb; contents: Contents },
  stream: ReadableStream<Uint8Array>,
  expected: { bytesMax: number; md5: string | undefined },
  record: (tx: ControlTx, content: Content) => Promise<void>,
): Promise<void> {
  const owner = `${RECEIVING_OWNER}${newId()}`
  try {
    const content = await contents.add(owner, stream, { bytesMax: expected.bytesMax })
    if (expected.md5 !== undefined && expected.md5 !== content.md5) {
      throw invalidRequest(`The bytes have the MD5 ${content.md5}, not ${expected.md5} as announced`)
    }
    await control.transaction().execute((tx) => record(tx, content))
  } finally {
    await contents.release([owner])
  }
}

/** Releases what was on its way when the server stopped. */
export async function releaseUnfinished(deps: { control: ControlDb; contents: Contents }): Promise<void> {
  const rows = await deps.control
    .selectFrom('content_owners')
    .select('owner')
    .distinct()
    .where('owner', 'like', `${RECEIVING_OWNER}%`)
    .execute()
  await deps.contents.release(rows.map((row) => row.owner))
}
