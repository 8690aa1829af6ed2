import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseVllmFlags } from './vllm-flags.ts'

describe('flags for vLLM', () => {
  it.each([
    [' --kv-cache-dtype fp8  --max-num-batched-tokens 8192 ', 4],
    ['--seed=-1 --enable-prefix-caching --no-async-scheduling', 3],
    ['--swap -0.5', 2],
    ['', 0],
  ])('are passed on: %s', (text, count) => {
    expect(parseVllmFlags(text)).toEqual({ words: text.split(' ').filter((word) => word !== '') })
    expect(parseVllmFlags(text)).toHaveProperty('words.length', count)
  })

  it.each([
    '--port 1',
    '--port=1',
    '--por 1',
    '--max_loras 9',
    '--no-enable-lora',
    '--no_enable_lora',
    '--config file.yaml',
    '--data-parallel-size-local 2',
    '--data 2',
    '--ssl-ciphers x',
    '--hf-overrides.a 1',
    '--seed 1 --model other',
  ])('are refused where Heddle sets them or depends on them: %s', (text) => {
    expect(parseVllmFlags(text)).toEqual({ problem: expect.stringContaining('is set by Heddle') })
  })

  it('may name the hosts of media', () => {
    expect(parseVllmFlags('--allowed-media-domains media.test')).toEqual({
      words: ['--allowed-media-domains', 'media.test'],
    })
  })

  it.each(['-tp 2', '-q', '--', '--=1', '---model x', '--MODEL x'])('are written in full: %s', (text) => {
    expect(parseVllmFlags(text)).toEqual({ problem: expect.stringContaining('write flags in full') })
  })

  it('begin with a flag', () => {
    expect(parseVllmFlags('fp8')).toEqual({ problem: 'begins with fp8, which is no flag' })
  })

  it('are none of those that engine/src/engine/serve.py sets, but for the hosts of media and four that only a CPU needs, which may be set anew', () => {
    const source = readFileSync(new URL('../../engine/src/engine/serve.py', import.meta.url), 'utf8')
    const command = /^def command[\s\S]*?(?=^def )/m.exec(source)?.[0] ?? ''
    const set = [...command.matchAll(/"(--[a-z-]+)"/g)].map(([, flag = '']) => flag)
    expect(set.length).toBeGreaterThan(20)
    const passed = set.filter((flag) => 'words' in parseVllmFlags(flag))
    expect(passed).toEqual([
      '--allowed-media-domains',
      '--enforce-eager',
      '--no-enable-chunked-prefill',
      '--block-size',
      '--kv-transfer-config',
    ])
  })
})
