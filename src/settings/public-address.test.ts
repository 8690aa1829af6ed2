import { describe, expect, it } from 'vitest'
import { createPublicAddress } from './public-address.ts'

const everywhere = { publicUrl: undefined, host: '0.0.0.0', hosts: ['localhost', 'loom.example'] }

describe('createPublicAddress', () => {
  it('is the one that the operator has set, however the server was reached', () => {
    const publicAddress = createPublicAddress({ ...everywhere, publicUrl: 'https://loom.example' })
    expect(publicAddress('http://10.0.0.7:6060')).toBe('https://loom.example')
  })

  it.each(['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::]'])(
    'has the name of the server in place of one that means another machine elsewhere: %s',
    (reached) => {
      expect(createPublicAddress(everywhere)(`https://${reached}:6060`)).toBe('https://loom.example:6060')
      const nameless = createPublicAddress({ ...everywhere, hosts: [] })
      expect(nameless(`http://${reached}:6060`)).toBe('http://localhost:6060')
    },
  )

  it('is the one by which it was reached, under another name or where only this machine reaches its port', () => {
    expect(createPublicAddress(everywhere)('https://weave.example')).toBe('https://weave.example')
    const behindProxy = createPublicAddress({ ...everywhere, host: '127.0.0.1' })
    expect(behindProxy('http://127.0.0.1:6060')).toBe('http://127.0.0.1:6060')
  })
})
