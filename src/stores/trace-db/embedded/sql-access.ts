/** Lets people and their tools read the tables over ClickHouse's HTTP interface, as user `reader`. */
export interface SqlAccess {
  port: number
  /** Of letters, digits, `-` and `_`. */
  password: string
}
