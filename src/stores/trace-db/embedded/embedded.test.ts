import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SILENT } from '../../../test-log.ts'
import { traceDbContract } from '../trace-db.contract.ts'
import { openEmbedded } from './embedded.ts'

traceDbContract(async () => openEmbedded(await mkdtemp(join(tmpdir(), 'heddle-embedded-')), SILENT))
