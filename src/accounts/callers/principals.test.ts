import { describe, expect, it } from 'vitest'
import { NO_RIGHTS } from '../../access.ts'
import { notFound, StoreFailed } from '../../errors.ts'
import { createPrincipals } from './principals.ts'

const none = { callerById: async () => undefined }

/** The rights of work of a monitor, whose publisher is looked up with this error. */
function rightsWith(error: Error): Promise<unknown> {
  const userNamed = () => Promise.reject(error)
  const identity = { userNamed } as unknown as Parameters<typeof createPrincipals>[0]['identity']
  const callers = { keys: none, accessTokens: none, sessions: none }
  const work = { user: 'anna', key_id: 'monitors', project_id: 'red/app' }
  return createPrincipals({ auth: 'keys', identity, ...callers }).rightsOf(work)
}

describe('rights of background work', () => {
  it('are none where its user is gone, and unknown while the control database fails', async () => {
    expect(await rightsWith(notFound('user', 'anna'))).toBe(NO_RIGHTS)
    const outage = new StoreFailed('The control database does not answer', undefined)
    await expect(rightsWith(outage)).rejects.toBe(outage)
  })
})
