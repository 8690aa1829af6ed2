import { describe, expect, it } from 'vitest'
import { readStoresElsewhere } from './stores-elsewhere.ts'
import { readWorkspaceSetting } from './workspace-setting.ts'

const read = (env: NodeJS.ProcessEnv) => readWorkspaceSetting(env, readStoresElsewhere(env).s3)

const S3 = {
  HEDDLE_WORKSPACE: 's3',
  HEDDLE_S3_URL: 's3://files/production',
  HEDDLE_S3_ENDPOINT: 'https://s3.example.com',
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
}

describe('HEDDLE_WORKSPACE', () => {
  it('is a folder where nothing is set', () => {
    expect(read({})).toEqual({ workspaceBucket: undefined })
  })

  it('is below the prefix of the files, and engines get what they need to reach it', () => {
    const { workspaceBucket } = read(S3)
    expect(workspaceBucket?.url).toBe('s3://files/production/workspace')
    expect(workspaceBucket?.environment).toMatchObject({
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_S3: 'https://s3.example.com',
      AWS_REGION: 'us-east-1',
    })
  })

  it('tells engines whom this server trusts', () => {
    const { workspaceBucket } = read({ ...S3, NODE_EXTRA_CA_CERTS: '/etc/our-ca.pem' })
    expect(workspaceBucket?.environment).toMatchObject({ AWS_CA_BUNDLE: '/etc/our-ca.pem' })
  })

  it('leaves the region to those who know it', () => {
    const { HEDDLE_S3_ENDPOINT: _, ...atAmazon } = S3
    expect(read(atAmazon).workspaceBucket?.environment).not.toHaveProperty('AWS_REGION')
    const there = read({ ...atAmazon, AWS_REGION: 'eu-central-1' }).workspaceBucket?.environment
    expect(there).toMatchObject({ AWS_REGION: 'eu-central-1' })
  })

  it.each([
    ['no bucket', { HEDDLE_WORKSPACE: 's3' }, 's3 needs HEDDLE_S3_URL'],
    ['another word', { HEDDLE_WORKSPACE: 'nfs' }, 'folder or s3'],
    [
      'several servers and a vLLM that sees no folder of theirs',
      { HEDDLE_SERVERS: 'several', HEDDLE_VLLM_URLS: 'http://a:8000,http://b:8000' },
      'gets adapters through the bucket',
    ],
  ])('is refused: %s', (_, env, message) => {
    expect(() => read(env)).toThrow(message)
  })

  it('is a folder of each of several servers where vLLM sees the one that is named', () => {
    const env = {
      HEDDLE_SERVERS: 'several',
      HEDDLE_VLLM_URL: 'http://a:8000',
      HEDDLE_ENGINE_FOLDER: '/shared/1',
    }
    expect(read(env)).toEqual({ workspaceBucket: undefined })
  })
})
