import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

describe('readConfig', () => {
  it('reads the settings of the engine: defaults, and a vLLM elsewhere only where one is named', () => {
    const { engine } = readConfig({ HEDDLE_DATA: '/data' })
    expect(engine).toMatchObject({
      folder: '/data/engine',
      kvCacheGb: 1,
      priorityScheduling: false,
      mmProcessorKwargs: false,
      requireSampledContext: false,
    })
    expect(engine.vllm).toBeUndefined()
  })

  it('takes URLs with or without a slash at their end', () => {
    const { engine } = readConfig({
      HEDDLE_VLLM_URL: 'http://router:8000/',
      HEDDLE_VLLM_WORKERS: 'http://a:8000, http://b:8000/',
      HEDDLE_PRIORITY_SCHEDULING: 'on',
    })
    expect(engine.vllm).toEqual({
      url: 'http://router:8000',
      workers: ['http://a:8000', 'http://b:8000'],
      key: undefined,
    })
    expect(engine.priorityScheduling).toBe(true)
    expect(readConfig({ HEDDLE_REBUILT_CONTEXT: 'refuse' }).engine.requireSampledContext).toBe(true)
  })

  it('wants the port and the password of SQL access together', () => {
    const password = 'x'.repeat(16)
    expect(readConfig({}).sqlAccess).toBeUndefined()
    expect(readConfig({ HEDDLE_SQL_PORT: '8123', HEDDLE_SQL_PASSWORD: password }).sqlAccess).toEqual({
      port: 8123,
      password,
    })
    expect(() => readConfig({ HEDDLE_SQL_PORT: '8123' })).toThrow('HEDDLE_SQL_PASSWORD')
    expect(() => readConfig({ HEDDLE_SQL_PASSWORD: password })).toThrow('HEDDLE_SQL_PORT')
  })

  it.each([
    ['HEDDLE_ENGINE_MEMORY_GB', '0'],
    ['HEDDLE_GPU_MEMORY', '1.5'],
    ['HEDDLE_KV_CACHE_GB', '0.5'],
    ['HEDDLE_VLLM_URL', 'router:8000'],
    ['HEDDLE_ENGINE_IDLE_MINUTES', '-1'],
    ['HEDDLE_VLLM_WORKERS', 'http://a:8000'],
    ['HEDDLE_VLLM_KEY', 'secret'],
    ['HEDDLE_SQL_PASSWORD', 'short'],
    ['HEDDLE_SQL_PASSWORD', '</password>12345'],
    ['HEDDLE_SQL_PORT', '0'],
  ])('names a wrong variable: %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(`Bad configuration:\n  ${name}`)
  })
})
