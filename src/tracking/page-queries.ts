import type { AliasedExpression } from 'kysely'
import { tooLarge } from '../errors.ts'
import type { ControlTx } from '../stores/control-db/port.ts'

/** Bytes of what clients wrote about the rows of one page: of 5,000 rows, the largest page, 12 kB each. */
const PAGE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Checks, before a page is read, how long its texts are. Databases know lengths in bytes without reading the texts.
 * @throws 413 for too long ones
 */
export async function checkPage(
  db: ControlTx,
  page: AliasedExpression<{ bytes: number }, 'page'>,
): Promise<void> {
  const { bytes } = await db
    .selectFrom(page)
    .select((eb) => eb.fn.sum<number | null>('page.bytes').as('bytes'))
    .executeTakeFirstOrThrow()
  if ((bytes ?? 0) > PAGE_BYTES_MAX)
    throw tooLarge(`This page has ${bytes} bytes, more than ${PAGE_BYTES_MAX}: ask for a smaller one`)
}
