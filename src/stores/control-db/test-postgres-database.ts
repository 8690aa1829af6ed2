import pg from 'pg'

/**
 * Creates an empty database, as Heddle needs it but for another encoding; resolves with its address.
 * @param server an address with a database in which others can be created
 */
export async function createPostgresDatabase(
  server: string,
  { name, encoding = 'UTF8' }: { name: string; encoding?: string },
): Promise<string> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C'`)
  } finally {
    await client.end()
  }
  const url = new URL(server)
  url.pathname = name
  return url.href
}
