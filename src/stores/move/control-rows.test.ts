import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { migrateControlDb } from '../control-db/migrate.ts'
import type { ControlDb } from '../control-db/port.ts'
import { openSqlite } from '../control-db/sqlite.ts'
import { moveControlRows } from './control-rows.ts'
import { MoveRefused } from './move-options.ts'

const OPTIONS = { onProgress: () => undefined, signal: new AbortController().signal }

async function opened() {
  const control = openSqlite(await mkdtemp(join(tmpdir(), 'heddle-rows-')))
  await migrateControlDb(control)
  return control
}

/** A project as older servers stored it, with U+0000 for each underscore of its name. */
async function addProject(control: ControlDb, name: string): Promise<void> {
  const stored = sql`replace(${name}, '_', char(0))`
  await sql`insert into projects (entity, name, created_at) values ('ada', ${stored}, 'now')`.execute(control)
}

describe('moveControlRows', () => {
  it('makes U+FFFD of U+0000, and counts the texts by table', async () => {
    await using source = await opened()
    await using target = await opened()
    await addProject(source, 'a_')
    await addProject(source, 'ab')
    const moved = await moveControlRows(source, target, OPTIONS)
    expect(moved.rows.get('projects')).toBe(2)
    expect([...moved.replacedTexts]).toEqual([['projects', 1]])
    const names = await target.selectFrom('projects').select('name').orderBy('name').execute()
    expect(names).toEqual([{ name: 'ab' }, { name: 'a\uFFFD' }])
    // All of it is there already.
    expect([...(await moveControlRows(source, target, OPTIONS)).replacedTexts]).toEqual([['projects', 1]])
  })

  it('names the table and the key of rows that would become one', async () => {
    await using source = await opened()
    await using target = await opened()
    await addProject(source, 'a_')
    await addProject(source, 'a\uFFFD')
    const refused = moveControlRows(source, target, OPTIONS)
    await expect(refused).rejects.toBeInstanceOf(MoveRefused)
    await expect(refused).rejects.toThrow(/^The table projects cannot be copied: .*\["ada","a\\u0000"\]$/)
  })
})
