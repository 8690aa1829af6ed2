/** Parses the database's format `JSONEachRow`: one row a line. */
export function jsonLines<Row>(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
}
