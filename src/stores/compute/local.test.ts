import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { createChildSpecs } from './local.ts'

/** The commands of this configuration; no process is started. */
function programs(env: NodeJS.ProcessEnv) {
  const config = readConfig({ HEDDLE_DATA: tmpdir(), HEDDLE_ENGINE_PYTHON: process.execPath, ...env })
  const { trainer, inference } = createChildSpecs(config)
  return { trainer: trainer('org/model'), inference: inference('org/model', 1, 'key') }
}

const PLACED = { HEDDLE_GPUS_SERVING: '0,1', HEDDLE_GPUS_TRAINING: '2,3,4' }

describe('engine programs', () => {
  it('see the GPUs that they are placed on, and use all of them', () => {
    const { trainer, inference } = programs({ ...PLACED, CUDA_VISIBLE_DEVICES: '7' })
    expect(trainer.env).toMatchObject({ CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: '2,3,4' })
    expect(trainer.args).toContain('--processes=3')
    expect(inference.env).toMatchObject({ CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: '0,1' })
    expect(inference.args.join(' ')).toContain('--tensor-parallel 2')
  })

  it('see what the server sees where none are named', () => {
    const { trainer, inference } = programs({ CUDA_VISIBLE_DEVICES: '7' })
    for (const { env } of [trainer, inference]) {
      expect(env).toMatchObject({ CUDA_VISIBLE_DEVICES: '7' })
      expect(env).not.toHaveProperty('CUDA_DEVICE_ORDER')
    }
    expect(trainer.args).toContain('--processes=1')
    expect(inference.args.join(' ')).toContain('--tensor-parallel 1')
  })

  it('have base models in the same precision', () => {
    for (const [env, how] of [
      [{}, 'none'],
      [{ HEDDLE_BASE_QUANTIZATION: 'nf4' }, 'nf4'],
    ] as const) {
      const { trainer, inference } = programs(env)
      for (const { args } of [trainer, inference]) expect(args).toContain(`--base-quantization=${how}`)
    }
  })

  it('get the flags for vLLM after all others', () => {
    const { inference } = programs({ HEDDLE_VLLM_FLAGS: '--kv-cache-dtype fp8' })
    expect(inference.args.slice(-3)).toEqual(['--', '--kv-cache-dtype', 'fp8'])
  })
})
