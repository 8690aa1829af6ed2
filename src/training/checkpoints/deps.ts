import type { Contents } from '../../contents/service.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Artifacts } from '../../tracking/artifacts/service.ts'
import type { CheckpointFiles } from '../checkpoint-files/checkpoint-files.ts'

export interface CheckpointsDeps {
  control: ControlDb
  contents: Contents
  artifacts: Artifacts
  files: CheckpointFiles
}
