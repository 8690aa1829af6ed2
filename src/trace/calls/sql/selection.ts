import type { Query } from '../../query-language/wire.ts'
import type { CallsFilter } from '../messages/list-wire.ts'
import type { ExpandedField } from './expanded-field.ts'

/** Which calls of a project are meant. */
export interface Selection {
  project_id: string
  filter?: CallsFilter | null | undefined
  query?: Query | null | undefined
  /** Fields that lie behind refs, by path. */
  expanded?: ReadonlyMap<string, ExpandedField> | undefined
  /** Paths whose leaf columns are read instead of payloads (`leaf-column.ts`). */
  leafColumns?: ReadonlySet<string> | undefined
}
