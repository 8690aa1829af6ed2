/** What the database answers in its format `JSONEachRow`: a row a line. */
export function jsonLines<Row>(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
}
