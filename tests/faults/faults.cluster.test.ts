import { it } from 'vitest'
import { NO_ENGINE, startInstallation } from './installation.ts'
import { runRounds } from './rounds.ts'
import { startWriters } from './writes.ts'

const SERVERS = 3
const RECOVERY_MS_MAX = 120_000

it('nothing acknowledged is lost or doubled, and all jobs end, while any server, store or network fails', async () => {
  await using installation = await startInstallation(Array.from({ length: SERVERS }, () => NO_ENGINE))
  const stopping = new AbortController()
  const writers = startWriters(installation.url, stopping.signal)
  await runRounds({
    count: 3,
    victims: installation.victims,
    works: writers.works,
    recoveryMsMax: RECOVERY_MS_MAX,
  })
  stopping.abort()
  await writers.stopped
  await writers.check()
})
