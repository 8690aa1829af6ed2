import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import { openFakeCompute } from './fake-compute.ts'
import type { Compute } from './port.ts'

let folder = ''
let compute: Compute
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-trainer-'))
  compute = openFakeCompute(folder)
})
afterAll(async () => {
  await compute[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** The messages of a job that does what `fake` says, as fake-trainer.ts understands it. */
function job(fake: string): AsyncIterable<unknown> {
  const data = join(folder, `${fake}.jsonl`)
  writeFileSync(data, `${JSON.stringify({ fake })}\n`)
  const request = { kind: 'sft_job', job_id: fake, work_dir: join(folder, 'work'), data_path: data }
  return compute.trainer('a').run(request, { whenFull: 'wait' }, new AbortController().signal)
}

async function until(messages: AsyncIterable<unknown>, kind: string): Promise<void> {
  for await (const message of messages) if ((message as { kind: string }).kind === kind) return
}

const lastLines = (): string[] => compute.trainer('a').status().last_lines

describe('the reason why a trainer ended', () => {
  it('quotes what it wrote about this job, and never about an earlier one', async () => {
    await until(job('fail'), 'job_failed')
    await eventually(() => expect(lastLines()).toContain('ValueError: made to fail'))
    const killed = (async () => {
      for await (const message of job('wait'))
        if ((message as { kind: string }).kind === 'training_started')
          process.kill(Number(lastLines()[0]?.replace('process ', '')), 'SIGKILL')
    })()
    await expect(killed).rejects.toMatchObject({ message: 'trainer a ended: killed by SIGKILL' })
    const own = 'trainer a ended: exit code 1; its last output: MemoryError: made to die'
    await expect(until(job('die'), 'job_failed')).rejects.toMatchObject({ message: own })
  })
})
