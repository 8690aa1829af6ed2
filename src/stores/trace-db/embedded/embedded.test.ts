import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SILENT } from '../../../test-log.ts'
import { traceDbContract } from '../trace-db.contract.ts'
import { openEmbedded } from './embedded.ts'

// Characters that mean something in XML, in SQL and to a shell.
traceDbContract(async () => openEmbedded(await mkdtemp(join(tmpdir(), `heddle <R&D> 'x" $-`)), SILENT))

it.each(['*', '?', '{a,b}', '\\'])('is refused where the path has %s', async (pattern) => {
  await expect(openEmbedded(join(tmpdir(), `heddle-${pattern}`), SILENT)).rejects.toThrow(
    'choose another folder',
  )
})
