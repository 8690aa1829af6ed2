import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import { readGpuBytes } from './gpu-memory.ts'
import { createMemoryNeeds, GB } from './memory-estimate.ts'

const NO_LOG = { warn: () => undefined }

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-memory-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A base model of two files of 1,000 bytes each. */
function writeModel(path: string, config: object): string {
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'config.json'), JSON.stringify(config))
  for (const name of ['model-1.safetensors', 'model-2.safetensors'])
    writeFileSync(join(path, name), 'x'.repeat(1_000))
  return path
}

/** What is needed, when it is known how large these base models are. */
async function needs(options: { memoryGb?: number; of?: string; quantization?: 'nf4' } = {}) {
  const settings = {
    accelerator: 'cpu',
    memoryGb: options.memoryGb,
    kvCacheGb: 2,
    gpuMemory: 0.7,
    gpus: { serving: [], training: [] },
    baseQuantization: options.quantization ?? 'none',
    environment: { HF_HOME: join(folder, 'hf') },
  } as const
  const found = createMemoryNeeds(settings, NO_LOG)
  if (options.of !== undefined) await found.measure(options.of)
  return found
}

describe('the memory of engine processes', () => {
  it.each([
    ['bfloat16', { dtype: 'bfloat16' }, 4_000],
    ['float32', { torch_dtype: 'float32' }, 2_000],
    ['a dtype it does not say', {}, 4_000],
  ])('is the weights in float32, whatever they are stored in: %s', async (name, config, bytes) => {
    const model = writeModel(join(folder, name), config)
    const { trainerBytes, inferenceBytes } = await needs({ of: model })
    expect(trainerBytes(model)).toBeCloseTo(bytes + 0.8 * GB, 0)
    expect(inferenceBytes(model)).toBeCloseTo(bytes + (2 + 1.2) * GB, 0)
  })

  it('is less where layers are in 4 bits, and not that of the embeddings', async () => {
    const model = writeModel(join(folder, 'in-4-bits'), { vocab_size: 20, hidden_size: 10 })
    const { trainerBytes, inferenceBytes } = await needs({ of: model, quantization: 'nf4' })
    // 400 of 1,000 parameters are those of embeddings and head.
    expect(trainerBytes(model)).toBeCloseTo(600 * 0.516 + 400 * 4 + 0.8 * GB, 0)
    expect(inferenceBytes(model)).toBeCloseTo(600 * 0.5625 + 400 * 4 + (2 + 1.2) * GB, 0)
  })

  it('is found in the cache of Hugging Face, and assumed while it is not there', async () => {
    expect((await needs({ of: 'org/model' })).trainerBytes('org/model')).toBe(6.8 * GB)
    const cached = join(folder, 'hf/hub/models--org--model')
    writeModel(join(cached, 'snapshots/abc'), { dtype: 'bfloat16' })
    mkdirSync(join(cached, 'refs'))
    writeFileSync(join(cached, 'refs/main'), 'abc')
    expect((await needs({ of: 'org/model' })).trainerBytes('org/model')).toBeCloseTo(4_000 + 0.8 * GB, 0)
  })

  it.each([
    ['too long for a file', 'a'.repeat(300)],
    ['with a character that no file has', 'org/a\0b'],
    ['that loops', 'loop'],
  ])('is assumed of a name %s', async (_what, name) => {
    const location = name === 'loop' ? join(folder, name) : name
    if (name === 'loop') symlinkSync(location, location)
    expect((await needs({ of: location })).trainerBytes(location)).toBe(6.8 * GB)
  })

  it('is measured in the background', async () => {
    const model = writeModel(join(folder, 'found'), {})
    const { trainerBytes } = await needs()
    expect(trainerBytes(model)).toBe(6.8 * GB)
    await eventually(() => expect(trainerBytes(model)).toBeLessThan(GB))
  })

  it('fits a budget that is set, or a share of the machine', async () => {
    expect((await needs({ memoryGb: 3 })).budgetBytes).toBe(3 * GB)
    expect((await needs()).budgetBytes).toBeGreaterThan(0.1 * GB)
  })
})

describe('the memory of GPUs', () => {
  /** With a fake nvidia-smi, a shell script; without one where there is none. */
  function needsWith(
    script: string | undefined,
    options: { serving?: number[]; training?: number[]; memoryGb?: number; quantization?: 'nf4' },
    warn = vi.fn(),
  ) {
    const bin = mkdtempSync(join(folder, 'bin-'))
    if (script !== undefined)
      writeFileSync(join(bin, 'nvidia-smi'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const settings = {
      accelerator: 'gpu',
      memoryGb: options.memoryGb,
      kvCacheGb: 1,
      gpuMemory: 0.5,
      gpus: { serving: options.serving ?? [], training: options.training ?? [] },
      baseQuantization: options.quantization ?? 'none',
      environment: { PATH: bin },
    } as const
    return createMemoryNeeds(settings, { warn })
  }

  /** With GPUs that have these memories, in MB. */
  function needsOnGpus(megabytes: number[], serving: number[], training: number[], quantization?: 'nf4') {
    const lines = megabytes.map((memory, gpu) => `${gpu}, ${memory}`).join('\n')
    return needsWith(`echo '${lines}'`, { serving, training, ...(quantization && { quantization }) })
  }

  const failing: [what: string, script: string | undefined, reason: string][] = [
    ['is missing', undefined, 'spawnSync nvidia-smi ENOENT'],
    ['fails', 'echo "NVIDIA-SMI has failed: no driver"; exit 9', 'NVIDIA-SMI has failed: no driver'],
    ['lists none', 'echo "0, [N/A]"', 'it lists no memory of a GPU: 0, [N/A]'],
  ]

  it.each(failing)(
    'is needed where nothing sets it: refused where nvidia-smi %s',
    (_what, script, reason) => {
      const message = `nvidia-smi could not be asked: ${reason}; set HEDDLE_ENGINE_MEMORY_GB`
      expect(() => needsWith(script, {})).toThrow(message)
      expect(() => needsWith(script, { serving: [7], training: [7] })).toThrow(message)
    },
  )

  it.each(failing)('is the one that is set, with a warning, where nvidia-smi %s', (_what, script, reason) => {
    const warn = vi.fn()
    const found = needsWith(script, { memoryGb: 24 }, warn)
    expect(found.budgetBytes).toBe(24 * GB)
    expect(found.inferenceBytes('org/unknown')).toBe(12 * GB)
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      `nvidia-smi could not be asked: ${reason}; HEDDLE_ENGINE_MEMORY_GB is taken for the memory of a GPU`,
    )
  })

  it('is not waited for without end', () => {
    const bin = mkdtempSync(join(folder, 'bin-'))
    const hanging = "#!/bin/sh\ntrap '' TERM\nwhile :; do :; done\n"
    writeFileSync(join(bin, 'nvidia-smi'), hanging, { mode: 0o755 })
    const asked = () => readGpuBytes({ named: [], environment: { PATH: bin }, answerMsMax: 100 })
    expect(asked).toThrow('nvidia-smi could not be asked: no answer within 0.1 s')
  })

  it('is that of the smallest that is used', () => {
    expect(needsOnGpus([30, 10, 20], [], []).budgetBytes).toBe(10 * 1024 ** 2)
    expect(needsOnGpus([30, 10, 20], [0], [2]).budgetBytes).toBe(20 * 1024 ** 2)
  })

  it('is shared by servers and trainers on the same ones, and not by those on others', () => {
    expect(needsOnGpus([30, 30], [], []).trainersApart).toBe(false)
    expect(needsOnGpus([30, 30], [0, 1], [1, 0]).trainersApart).toBe(false)
    expect(needsOnGpus([30, 30], [0], [1]).trainersApart).toBe(true)
  })

  it('has an equal part of the weights on each that trains', () => {
    expect(needsOnGpus([30, 30, 30], [0], [1, 2]).trainerBytes('org/unknown')).toBe((6 / 2 + 0.8) * GB)
    expect(needsOnGpus([30, 30, 30], [0], [1, 2], 'nf4').trainerBytes('org/unknown')).toBe((6 + 0.8) * GB)
  })

  it('moves to that of the machine for those that sleep, where there is room', () => {
    const { reserveAsleep } = needsOnGpus([30, 30], [0], [1])
    const inFourBits = needsOnGpus([30, 30, 30], [0], [1, 2], 'nf4')
    const available = vi.spyOn(process, 'availableMemory').mockReturnValue(7.5 * GB)
    // Each of the two processes has all of it.
    expect(inFourBits.reserveAsleep('trainer', 'org/unknown')).toBeUndefined()
    expect(inFourBits.reserveAsleep('inference', 'org/unknown')).toBeDefined()
    const release = reserveAsleep('inference', 'org/unknown')
    expect(reserveAsleep('trainer', 'org/unknown')).toBeUndefined()
    release?.()
    expect(reserveAsleep('trainer', 'org/unknown')).toBeDefined()
    available.mockReturnValue(7.4 * GB)
    expect(needsOnGpus([30], [], []).reserveAsleep('inference', 'org/unknown')).toBeUndefined()
  })

  it('is not there for GPUs that the machine does not have', async () => {
    expect(() => needsOnGpus([30, 30], [0], [1, 2])).toThrow('names GPU 2, but nvidia-smi lists 0, 1')
    const set = { serving: [2], training: [2], memoryGb: 1 }
    expect(() => needsWith("echo '0, 30'", set)).toThrow('names GPU 2, but nvidia-smi lists 0')
    const onCpu = { accelerator: 'cpu', memoryGb: 1, kvCacheGb: 1, gpuMemory: 0.7, environment: {} } as const
    expect(() =>
      createMemoryNeeds(
        { ...onCpu, baseQuantization: 'none', gpus: { serving: [0], training: [0] } },
        NO_LOG,
      ),
    ).toThrow('HEDDLE_GPUS_SERVING: this machine has no NVIDIA driver')
  })
})
