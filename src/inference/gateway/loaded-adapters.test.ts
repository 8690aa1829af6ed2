import { describe, expect, it } from 'vitest'
import type { InferenceProcess } from '../../stores/compute/port.ts'
import { createLoadedAdapters } from './loaded-adapters.ts'

const LISTED = 64

/** A process that only records what it is to load and unload. */
function recordingProcess(answer: { status: number; text: string } = { status: 200, text: '' }) {
  const told: string[] = []
  const refused = new Set<string>()
  const process: InferenceProcess = {
    pathOf: (name) => `/workspace/${name}`,
    async post(path, body) {
      const { lora_name } = JSON.parse(body) as { lora_name: string }
      const what = path.includes('unload') ? 'unload' : 'load'
      told.push(`${what} ${lora_name}`)
      const { status, text } = refused.has(what) ? { status: 500, text: 'not now' } : answer
      return { status, read: async (onChunk) => onChunk(Buffer.from(text)) }
    },
  }
  return { told, process, refused }
}

const there = { name: 'adapters/a', ensure: async () => {}, release() {} }
const files = { holdAdapterFolder: async () => there }
const adapter = (digest: string) => ({ adapter_digest: digest, manifest: [] })

function newLoaded() {
  return createLoadedAdapters({ files })
}

describe('createLoadedAdapters', () => {
  it('loads an adapter once for all who ask, and once for each process', async () => {
    const loaded = newLoaded()
    const [first, second] = [recordingProcess(), recordingProcess()]
    await Promise.all([1, 2, 3].map(() => loaded.use(first.process, adapter('a'))))
    await loaded.use(second.process, adapter('a'))
    expect([first.told, second.told]).toEqual([['load a'], ['load a']])
  })

  it('unloads the least recently used one that is not in use, and loads it again for its next use', async () => {
    const loaded = newLoaded()
    const { told, process } = recordingProcess()
    const held = await loaded.use(process, adapter('held'))
    for (let n = 0; n < LISTED; n++) (await loaded.use(process, adapter(String(n)))).release()
    expect(told.filter((line) => line.startsWith('unload'))).toEqual(['unload 0'])
    held.release()
    held.release()
    ;(await loaded.use(process, adapter('0'))).release()
    expect(told.filter((line) => line.startsWith('unload'))).toEqual(['unload 0', 'unload held'])
    expect(told.at(-2)).toBe('load 0')
  })

  it('unloads one later that the process did not unload', async () => {
    const loaded = newLoaded()
    const { told, process, refused } = recordingProcess()
    refused.add('unload')
    for (let n = 0; n <= LISTED; n++) (await loaded.use(process, adapter(String(n)))).release()
    refused.clear()
    ;(await loaded.use(process, adapter('next'))).release()
    expect(told.filter((line) => line.startsWith('unload'))).toEqual(['unload 0', 'unload 0', 'unload 1'])
    ;(await loaded.use(process, adapter('0'))).release()
    expect(told.filter((line) => line === 'load 0')).toHaveLength(2)
  })

  it('loads an adapter again that the process has lost, and still counts its uses', async () => {
    const loaded = newLoaded()
    const { told, process } = recordingProcess()
    const first = await loaded.use(process, adapter('a'))
    loaded.forget(process, first)
    await loaded.use(process, adapter('a'))
    first.release()
    for (let n = 0; n < LISTED; n++) (await loaded.use(process, adapter(String(n)))).release()
    expect(told.filter((line) => line.endsWith(' a'))).toEqual(['load a', 'load a'])
  })

  it('has the files of an adapter there during each use, also of one that the process has loaded', async () => {
    let asked = 0
    let held = 0
    const holdAdapterFolder = async () => {
      asked++
      held++
      return { ...there, release: () => void held-- }
    }
    const loaded = createLoadedAdapters({ files: { holdAdapterFolder } })
    const { told, process } = recordingProcess()
    for (const times of [1, 2]) {
      const use = await loaded.use(process, adapter('a'))
      expect([asked, held]).toEqual([times, 1])
      use.release()
      use.release()
      expect(held).toBe(0)
    }
    expect(told).toEqual(['load a'])
    const failing = recordingProcess({ status: 500, text: 'no' })
    await expect(loaded.use(failing.process, adapter('a'))).rejects.toThrow('could not be loaded')
    expect(held).toBe(0)
  })

  it('has the files laid out again before a load, where another server has removed them', async () => {
    const done: string[] = []
    const ensure = async () => void done.push('ensure')
    const loaded = createLoadedAdapters({ files: { holdAdapterFolder: async () => ({ ...there, ensure }) } })
    const { process, told } = recordingProcess()
    for (let uses = 0; uses < 2; uses++) (await loaded.use(process, adapter('a'))).release()
    expect([done, told]).toEqual([['ensure'], ['load a']])
  })

  it('treats an adapter that exists already as loaded, and tries a failed one again', async () => {
    const loadedOnce = recordingProcess({ status: 400, text: 'has already been loaded' })
    await newLoaded().use(loadedOnce.process, adapter('a'))
    const failing = recordingProcess({ status: 500, text: 'no' })
    const loaded = newLoaded()
    for (let tries = 0; tries < 2; tries++)
      await expect(loaded.use(failing.process, adapter('a'))).rejects.toThrow('could not be loaded')
    expect(failing.told).toEqual(['load a', 'load a'])
  })
})
