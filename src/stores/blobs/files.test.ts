import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blobsContract } from './blobs.contract.ts'
import { openFileBlobs } from './files.ts'

blobsContract(async () => openFileBlobs(await mkdtemp(join(tmpdir(), 'heddle-blobs-'))))
