import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, inject } from 'vitest'
import { newId } from '../../ids.ts'
import { SILENT } from '../../test-log.ts'
import { openS3Blobs } from '../blobs/s3.ts'
import { openFolderWorkspace } from './folders.ts'
import { engineAt, workspaceContract } from './workspace.contract.ts'

const nothingElse = { clientEndpoint: undefined, region: undefined }

describe('of blobs on S3', () => {
  workspaceContract(async () => {
    const root = join(await mkdtemp(join(tmpdir(), 'heddle-workspace-')), 'engine')
    const place = { ...inject('servers').s3, prefix: `${newId()}/`, ...nothingElse }
    const blobs = await openS3Blobs(place, { owner: 'tests', log: SILENT })
    return { workspace: await openFolderWorkspace(root, blobs), blobs, engine: engineAt(root) }
  })
})
