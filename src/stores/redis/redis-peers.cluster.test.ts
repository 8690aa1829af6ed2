import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type TestRedis } from '../../../tests/cluster/redis.ts'
import { newId } from '../../ids.ts'
import { CERT, KEY } from '../../test-certificate.ts'
import { eventually } from '../../test-eventually.ts'
import { SILENT } from '../../test-log.ts'
import { startTestNetwork } from '../../test-network.ts'
import { createListeners, NO_PEERS, type Peers, type Topic } from '../control-db/peers.ts'
import { createSecretKey } from '../secret-key.ts'
import { checkRedis } from './connection.ts'
import { openRedisPeers } from './redis-peers.ts'

let redis: TestRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis[Symbol.asyncDispose]())

const secretKey = createSecretKey(Buffer.from(newId()))

/** What servers have that send each other messages through PostgreSQL. */
function newNotices(): (sent: [Topic, string][]) => Peers {
  const servers = new Map<string, ReturnType<typeof createListeners>>()
  return (sent) => {
    const self = newId()
    const listeners = createListeners()
    servers.set(self, listeners)
    return {
      ...NO_PEERS,
      arePossible: true,
      self,
      onMessage: listeners.add,
      send(topic, text) {
        if (topic !== 'without_redis') sent.push([topic, text])
        for (const [other, { pass }] of servers) if (other !== self) pass(topic, text, self)
      },
    }
  }
}

/** A server, with what it sends by PostgreSQL, and what it hears of one topic. */
function openServer(url = redis.url, { key = secretKey, byNotices = newNotices() } = {}) {
  const byPostgres: [Topic, string][] = []
  const heard: (string | undefined)[] = []
  const senders = new Set<string>()
  const peers = openRedisPeers({ url }, { base: byNotices(byPostgres), secretKey: key, log: SILENT })
  peers.onMessage('monitors', (text, from) => {
    heard.push(text)
    if (text !== undefined) senders.add(from)
  })
  return { peers, byPostgres, heard, senders, [Symbol.asyncDispose]: () => peers[Symbol.asyncDispose]() }
}

type Server = ReturnType<typeof openServer>

/** It was connected if it was told that messages may have been missed, which is at least once for each connection. */
async function connected(server: Server, times = 1): Promise<void> {
  await eventually(() =>
    expect(server.heard.filter((text) => text === undefined).length).toBeGreaterThanOrEqual(times),
  )
}

const textsOf = ({ heard }: Server): unknown[] => heard.filter((text) => text !== undefined)

describe('servers that send each other messages through Redis', () => {
  it('hear the others, in order, and not themselves', async () => {
    await using one = openServer()
    await using other = openServer()
    await connected(one)
    await connected(other)
    one.peers.send('monitors', 'a\nb "c"')
    one.peers.send('jobs', '')
    one.peers.send('monitors', '')
    await eventually(() => expect(textsOf(other)).toEqual(['a\nb "c"', '']))
    other.peers.send('monitors', 'd')
    await eventually(() => expect(textsOf(one)).toEqual(['d']))
    expect([...one.byPostgres, ...other.byPostgres]).toEqual([])
  })

  it.each([
    ['another key', createSecretKey(Buffer.from(newId())), 0],
    ['another number of a database', secretKey, 1],
  ])('hear nothing of servers with %s', async (_, key, database) => {
    const url = redis.url.replace(/0$/, String(database))
    await using one = openServer()
    await using same = openServer()
    await using stranger = openServer(url, { key })
    await using itsPeer = openServer(url, { key })
    for (const server of [one, same, stranger, itsPeer]) await connected(server)
    stranger.peers.send('monitors', 'of a stranger')
    await eventually(() => expect(textsOf(itsPeer)).toEqual(['of a stranger']))
    one.peers.send('monitors', 'of a peer')
    await eventually(() => expect(textsOf(same)).toEqual(['of a peer']))
  })
})

describe('a Redis with TLS', () => {
  it('is reached where its certificate is signed by one that is given, and only then', async () => {
    const listener = createServer({ cert: CERT, key: KEY }, (client) => {
      const target = connect(redis.port, '127.0.0.1')
      for (const socket of [client, target]) socket.on('error', () => socket.destroy())
      client.pipe(target).pipe(client)
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const url = redis.url.replace(/^redis:/, 'rediss:').replace(/@.*/, `@localhost:${port}/0`)
    await checkRedis({ url, ca: CERT })
    await expect(checkRedis({ url })).rejects.toThrow(/self-signed/)
    listener.close()
  })
})

describe('servers whose Redis is away', () => {
  it('start, send through PostgreSQL, and use Redis once it is there', async () => {
    await using later = await startRedis()
    await later.kill()
    await using one = openServer(later.url)
    await using other = openServer(later.url)
    one.peers.send('monitors', 'by PostgreSQL')
    expect(one.byPostgres).toEqual([['monitors', 'by PostgreSQL']])
    await later.start()
    await connected(one)
    await connected(other)
    one.peers.send('monitors', 'by Redis')
    await eventually(() => expect(textsOf(other)).toEqual(['by Redis']))

    await later.kill()
    await eventually(() => {
      one.peers.send('monitors', 'again')
      expect(one.byPostgres.at(-1)).toEqual(['monitors', 'again'])
    })
    await later.start()
    await connected(one, 2)
    await connected(other, 2)
    one.peers.send('monitors', 'at last')
    await eventually(() => expect(textsOf(other).at(-1)).toBe('at last'))
  })

  it('notice a network that passes nothing on', async () => {
    await using network = await startTestNetwork(redis.port)
    await using one = openServer(redis.url.replace(/:\d+\/0$/, `:${network.port}/0`))
    await connected(one)
    network.hang(true)
    await eventually(() => {
      one.peers.send('monitors', 'text')
      expect(one.byPostgres).not.toEqual([])
    })
    network.hang(false)
    await connected(one, 2)
  })

  it('hear those that reach it, under the same names', async () => {
    await using network = await startTestNetwork(redis.port)
    const byNotices = newNotices()
    await using cutOff = openServer(redis.url.replace(/:\d+\/0$/, `:${network.port}/0`), { byNotices })
    await using other = openServer(redis.url, { byNotices })
    await connected(cutOff)
    await connected(other)
    other.peers.send('monitors', 'by Redis')
    await eventually(() => expect(textsOf(cutOff)).toEqual(['by Redis']))
    network.break(true)
    await eventually(() => {
      other.peers.send('monitors', 'by PostgreSQL')
      expect(cutOff.heard).toContain('by PostgreSQL')
    })
    expect([...cutOff.senders]).toEqual([other.peers.self])
    network.break(false)
    await connected(cutOff, 2)
    await eventually(() => {
      const before = other.byPostgres.length
      other.peers.send('monitors', 'by Redis again')
      expect(other.byPostgres).toHaveLength(before)
    })
    await eventually(() => expect(textsOf(cutOff).at(-1)).toBe('by Redis again'))
  })

  it('with a wrong password send through PostgreSQL', async () => {
    await using one = openServer(redis.url.replace(/:[^:@]+@/, ':wrong@'))
    await using right = openServer()
    await connected(right)
    one.peers.send('monitors', 'text')
    expect(one.byPostgres).toEqual([['monitors', 'text']])
    expect(one.heard).toEqual([])
  })
})
