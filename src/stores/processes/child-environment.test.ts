import { describe, expect, it } from 'vitest'
import { environmentOfEngines, withoutSettings } from './child-environment.ts'

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

describe('environmentOfEngines', () => {
  const kept = {
    PATH: '/usr/bin',
    HF_TOKEN: 'h',
    HF_HOME: '/models',
    CUDA_VISIBLE_DEVICES: '0',
    VLLM_LOGGING_LEVEL: 'DEBUG',
    HTTPS_PROXY: 'http://proxy:3128',
    OTEL_SERVICE_NAME: 'loom',
    WANDB_API_KEY: 'w',
  }

  it('keeps what libraries of engines read', () => {
    expect(environmentOfEngines(kept, [])).toEqual(kept)
  })

  it('leaves out all settings of the server, and what it authenticates with', () => {
    const settings = {
      HEDDLE_VLLM_KEY: 'k',
      HEDDLE_PROVIDERS: '{}',
      HEDDLE_SCORER_SECRETS: '{}',
      HEDDLE_PORT: '1',
    }
    const secrets = { OPENAI_API_KEY: 'k', OTEL_EXPORTER_OTLP_HEADERS: 'api-key=k' }
    expect(environmentOfEngines({ ...kept, ...settings, ...secrets }, [])).toEqual(kept)
  })

  it('leaves out variables that hold keys of others, but for the token of the hub', () => {
    const env = { ...kept, GROQ_KEY: 'g' }
    expect(environmentOfEngines(env, ['GROQ_KEY', 'HF_TOKEN'])).toEqual(kept)
  })

  it('leaves out the credentials of a bucket that is set, and no others', () => {
    const ofModels = { ...kept, AWS_SECRET_ACCESS_KEY: 'a', AWS_SESSION_TOKEN: 't' }
    expect(environmentOfEngines(ofModels, [])).toEqual(ofModels)
    expect(environmentOfEngines({ ...ofModels, HEDDLE_S3_URL: 's3://bucket' }, [])).toEqual(kept)
  })
})
