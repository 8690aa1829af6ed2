import type { ControlDb } from './port.ts'

/** The secret of a name, which is `candidate` unless there is one already. */
export async function loadSecret(control: ControlDb, name: string, candidate: string): Promise<string> {
  await control
    .insertInto('secrets')
    .values({ name, value: candidate })
    .onConflict((clash) => clash.doNothing())
    .execute()
  const row = await control
    .selectFrom('secrets')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return row.value
}
