import type { Log } from './log.ts'
import type { S3Options } from './stores/blobs/s3-address.ts'
import type { WorkspaceBucket } from './stores/workspace/bucket-address.ts'
import { openFolderWorkspace, type WorkspaceBlobs } from './stores/workspace/folders.ts'
import type { Workspace } from './stores/workspace/port.ts'

/** Where the workspace is. */
export interface WorkspacePlace {
  /** Its root; where it is in a bucket, what engines of this machine run in and copy to. */
  folder: string
  workspaceBucket?: WorkspaceBucket | undefined
  s3?: S3Options | undefined
}

/** A workspace that may be closed. */
export type OpenedWorkspace = Workspace & Partial<AsyncDisposable>

export async function openWorkspace(
  { folder, workspaceBucket, s3 }: WorkspacePlace,
  blobs: WorkspaceBlobs,
  log: Pick<Log, 'warn'>,
): Promise<OpenedWorkspace> {
  if (workspaceBucket === undefined || s3 === undefined) return openFolderWorkspace(folder, blobs)
  const { openBucketWorkspace } = await import('./stores/workspace/bucket.ts')
  return openBucketWorkspace(s3, { log, folder })
}

/** Where it is, for people. */
export function placeOfWorkspace({ folder, workspaceBucket }: WorkspacePlace): string {
  return workspaceBucket?.url ?? folder
}
