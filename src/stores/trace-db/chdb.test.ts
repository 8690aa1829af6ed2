import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SILENT } from '../../test-log.ts'
import { openChdb } from './chdb.ts'
import { traceDbContract } from './trace-db.contract.ts'

traceDbContract(async () => openChdb(await mkdtemp(join(tmpdir(), 'heddle-chdb-')), SILENT))
