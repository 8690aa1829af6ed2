import { describe, expect, it } from 'vitest'
import { readRaySetting } from './ray-setting.ts'

const URL = { HEDDLE_RAY_URL: 'http://ray-head:8265' }

describe('readRaySetting', () => {
  it('is this machine without settings', () => {
    expect(readRaySetting({})).toBeUndefined()
  })

  it('reserves a processor and a GPU where nothing else is said', () => {
    const setting = readRaySetting({ HEDDLE_RAY_URL: 'https://ray.example/cluster/' })
    expect(setting).toMatchObject({
      url: 'https://ray.example/cluster',
      token: undefined,
      python: 'python3',
      workspace: undefined,
      gpuMemory: 0.9,
    })
    const needs = { cpus: 1, gpus: 1, memoryBytes: undefined, custom: {}, labels: {} }
    expect(setting?.trainer('org/model')).toEqual(needs)
    expect(setting?.server('org/model')).toEqual(needs)
  })

  it('reads what processes need, for a base model by its name', () => {
    const trainer = {
      gpus: 2,
      memory_gb: 1.5,
      resources: { a100: 0.5 },
      base_models: { 'org/large': { gpus: 4, labels: { zone: 'a' } } },
    }
    const setting = readRaySetting({
      ...URL,
      HEDDLE_RAY_TRAINER: JSON.stringify(trainer),
      HEDDLE_RAY_SERVER: '{"gpus": 0.5}',
      HEDDLE_RAY_WORKSPACE: '/mnt/heddle/',
      HEDDLE_GPU_MEMORY: '0.4',
    })
    const common = { cpus: 1, memoryBytes: 1.5 * 1024 ** 3, custom: { a100: 0.5 } }
    expect(setting?.trainer('org/model')).toEqual({ ...common, gpus: 2, labels: {} })
    expect(setting?.trainer('org/large')).toEqual({ ...common, gpus: 4, labels: { zone: 'a' } })
    expect(setting?.server('org/large').gpus).toBe(0.5)
    expect(setting).toMatchObject({ workspace: '/mnt/heddle', gpuMemory: 0.4 })
  })

  it.each([
    [{ HEDDLE_RAY_TOKEN: 'x' }, 'HEDDLE_RAY_TOKEN: needs HEDDLE_RAY_URL'],
    [{ HEDDLE_RAY_TRAINER: '{}' }, 'HEDDLE_RAY_TRAINER: needs HEDDLE_RAY_URL'],
    [{ HEDDLE_RAY_URL: 'ray://head:10001' }, 'HEDDLE_RAY_URL: '],
    [{ HEDDLE_RAY_URL: 'http://me:secret@head' }, 'HEDDLE_RAY_URL: has a user in it'],
    [{ HEDDLE_RAY_URL: 'http://head/?a=b' }, 'HEDDLE_RAY_URL: is an address without ? and #'],
    [{ ...URL, HEDDLE_GPUS_SERVING: '0' }, 'HEDDLE_GPUS_SERVING: is for engines on this machine'],
    [{ ...URL, HEDDLE_ENGINE_MEMORY_GB: '8' }, 'HEDDLE_ENGINE_MEMORY_GB: is for engines on this machine'],
    [{ ...URL, HEDDLE_ENGINE_THREADS: '8' }, 'HEDDLE_ENGINE_THREADS: is for engines on this machine'],
    [{ ...URL, HEDDLE_RAY_WORKSPACE: 'engine' }, 'HEDDLE_RAY_WORKSPACE: an absolute path'],
    [
      { ...URL, HEDDLE_RAY_TRAINER: '{"gpus": 1.5}' },
      'HEDDLE_RAY_TRAINER: gpus: less than one, or a whole number',
    ],
    [{ ...URL, HEDDLE_RAY_TRAINER: '{"cpus": 0}' }, 'HEDDLE_RAY_TRAINER: cpus: '],
    [{ ...URL, HEDDLE_RAY_SERVER: '{"gpu": 1}' }, 'HEDDLE_RAY_SERVER: Unrecognized key: "gpu"'],
    [
      { ...URL, HEDDLE_RAY_SERVER: '{"base_models": {"a": {"gpus": -1}}}' },
      'HEDDLE_RAY_SERVER: base_models.a.gpus: ',
    ],
    [{ ...URL, HEDDLE_RAY_SERVER: '{gpus}' }, 'HEDDLE_RAY_SERVER: the text is not JSON'],
    [{ ...URL, HEDDLE_RAY_SERVER: '/no/file' }, 'HEDDLE_RAY_SERVER: ENOENT'],
  ])('refuses %j', (settings, message) => {
    expect(() => readRaySetting(settings)).toThrow(message)
  })

  it('repeats no password', () => {
    expect(() => readRaySetting({ HEDDLE_RAY_URL: 'http://me:secret@head' })).not.toThrow('secret')
  })
})
