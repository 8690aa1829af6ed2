/**
 * All rows, in pages.
 * @param pageAfter the rows whose names follow one, in order; at first, of the empty one
 */
export async function* pagesByName<Row extends { name: string }>(
  pageAfter: (name: string) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: Row[] = await pageAfter(after)
    if (rows.length > 0) yield rows
    after = rows.at(-1)?.name
  }
}
