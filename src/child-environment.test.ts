import { describe, expect, it } from 'vitest'
import { withoutSettings } from './child-environment.ts'

describe('withoutSettings', () => {
  it('keeps what the system needs to run a program, and nothing else', () => {
    const kept = {
      PATH: '/usr/bin',
      HOME: '/home/ada',
      TZ: 'Europe/Vienna',
      LANG: 'C.UTF-8',
      LC_ALL: 'C.UTF-8',
      LD_LIBRARY_PATH: '/opt/lib',
      NODE_OPTIONS: '--max-old-space-size=64',
      NODE_COMPILE_CACHE: '/cache',
      ASAN_OPTIONS: 'detect_leaks=0',
    }
    const secrets = {
      HEDDLE_SECRET_KEY: 'k',
      HEDDLE_VLLM_KEY: 'k',
      OPENAI_API_KEY: 'k',
      AWS_SECRET_ACCESS_KEY: 'k',
      MY_SCORER_TOKEN: 'k',
    }
    expect(withoutSettings({ ...kept, ...secrets, TMPDIR: undefined })).toEqual(kept)
  })
})
