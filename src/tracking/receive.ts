import type { Content } from '../contents/content.ts'
import type { Contents } from '../contents/service.ts'
import { invalidRequest } from '../errors.ts'
import { newId } from '../ids.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'

/** Owners of uploads in progress; after a crash, what they own is not needed. */
const RECEIVING_OWNER = 'receiving:'

/**
 * Keeps the bytes of a stream and records them in one transaction; nothing of an interrupted or refused upload is kept.
 * @throws 400 when the bytes do not have the MD5 that was announced, 413 beyond `bytesMax`.
 */
export async function receive(
  { control, contents }: { control: ControlDb; contents: Contents },
  stream: AsyncIterable<Uint8Array>,
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

/** Releases uploads that began before a time, in milliseconds since 1970, and of which nothing came. */
export function releaseUnfinished({ contents }: { contents: Contents }, before: number): Promise<void> {
  return contents.releaseLeftovers(RECEIVING_OWNER, before)
}
