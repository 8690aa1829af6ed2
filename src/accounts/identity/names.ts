import { conflict, invalidRequest } from '../../errors.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { entitiesOfProjects, findEntity, findUserByName } from '../user-queries.ts'

/** Wire: names are parts of `entity/project` and of addresses. */
const NAME = /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/i
const NAME_CHARS_MAX = 64

/** @throws 400 for what is no name of a user or an entity */
function checkName(name: string): void {
  if (!NAME.test(name)) {
    throw invalidRequest(
      'A name has 1 to 64 letters, digits, ".", "_" and "-", and begins and ends with a letter or digit',
    )
  }
}

/**
 * Users and entities share their names: the entity of a person has the person's, and what is of another must not seem
 * to be.
 * @throws 400 for what is no name, 409 for one that a user or an entity has
 */
export async function checkIsFree(tx: ControlTx, name: string): Promise<void> {
  checkName(name)
  if (await isTaken(tx, name)) throw conflict(`The name ${name} is taken`)
}

/**
 * The wanted name in the allowed form, or one that begins like it, that no user and no entity has.
 * @param reserved names that are kept for others
 */
export async function freeName(
  tx: ControlTx,
  wanted: string,
  reserved: ReadonlySet<string>,
): Promise<string> {
  const base = nameLike(wanted)
  for (let count = 1; ; count += 1) {
    const ending = count === 1 ? '' : `-${count}`
    const name = base.slice(0, NAME_CHARS_MAX - ending.length) + ending
    if (!reserved.has(name) && !(await isTaken(tx, name))) return name
  }
}

async function isTaken(tx: ControlTx, name: string): Promise<boolean> {
  const found = (await findUserByName(tx, name)) ?? (await findEntity(tx, name))
  return found !== undefined || (await entitiesOfProjects(tx)).includes(name)
}

/** In lower case and without accents, with dashes for what names do not have. */
function nameLike(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const name = plain.replaceAll(/[^a-z0-9_.-]+/g, '-').slice(0, NAME_CHARS_MAX)
  return name.replaceAll(/^[_.-]+|[_.-]+$/g, '') || 'user'
}
