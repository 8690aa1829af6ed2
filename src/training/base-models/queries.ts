import type { ControlDb } from '../../stores/control-db/port.ts'
import type { InitialAdaptersTable } from '../../stores/control-db/tables.ts'

/** The key of an initial adapter: `lora` is JSON. */
type AdapterKey = Pick<InitialAdaptersTable, 'base_model' | 'lora'>

/** The manifest, as JSON, of an initial adapter, which changes nothing; undefined where none was made. */
export async function findManifest(control: ControlDb, key: AdapterKey): Promise<string | undefined> {
  const row = await control
    .selectFrom('initial_adapters')
    .select('manifest')
    .where('base_model', '=', key.base_model)
    .where('lora', '=', key.lora)
    .executeTakeFirst()
  return row?.manifest
}

/** Adds an adapter unless another server has made one meanwhile. */
export async function insertAdapter(control: ControlDb, row: InitialAdaptersTable): Promise<void> {
  await control
    .insertInto('initial_adapters')
    .values(row)
    .onConflict((taken) => taken.columns(['base_model', 'lora']).doNothing())
    .execute()
}

export interface UsedBaseModel {
  base_model: string
  /** When its first adapter was made. */
  created_at: string
}

/** Base models that have initial adapters, oldest first. */
export function listBaseModels(control: ControlDb): Promise<UsedBaseModel[]> {
  return control
    .selectFrom('initial_adapters')
    .select((eb) => ['base_model', eb.fn.min('created_at').as('created_at')])
    .groupBy('base_model')
    .orderBy('created_at')
    .execute()
}
