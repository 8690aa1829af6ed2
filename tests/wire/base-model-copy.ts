import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ENGINE = resolve(import.meta.dirname, '../../engine')

/** A copy of the small model that differs only in its chat template. */
export interface BaseModelCopy extends AsyncDisposable {
  /** Its folder, which is also its id. */
  readonly id: string
}

/** @param template the name of one of `engine/tests/chat_templates` */
export async function baseModelWith(template: string): Promise<BaseModelCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-template-'))
  const id = join(folder, template)
  await cp(join(ENGINE, 'models/loom-tiny'), id, { recursive: true })
  const text = await readFile(join(ENGINE, `tests/chat_templates/${template}.jinja`), 'utf8')
  await writeFile(join(id, 'chat_template.jinja'), text)
  return { id, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
