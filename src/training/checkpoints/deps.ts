import type { Contents } from '../../contents.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import type { Artifacts } from '../../tracking/artifacts/service.ts'
import type { CheckpointFiles } from './files.ts'

export interface CheckpointsDeps {
  control: ControlDb
  contents: Contents
  artifacts: Artifacts
  files: CheckpointFiles
}
