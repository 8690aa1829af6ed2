import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createLogFolder, LOG_BYTES_MAX } from './log-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'heddle-logs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8')

describe('the folder of logs', () => {
  it('keeps the most recently written ones, and those in use', async () => {
    const { open } = createLogFolder(folder)
    const serving = open('serving.log')
    serving.add('for years')
    await expect.poll(() => textOf('serving.log')).toContain('for years')
    utimesSync(join(folder, 'serving.log'), 1, 1)
    for (let index = 0; index < 40; index++) {
      const log = open(`tried-${index}.log`)
      log.add('no such model')
      log.close()
      // Written, and not only opened.
      await expect.poll(() => textOf(`tried-${index}.log`)).toContain('no such model')
      utimesSync(join(folder, `tried-${index}.log`), 1000 + index, 1000 + index)
    }
    const kept = readdirSync(folder)
    expect(kept).toHaveLength(32)
    expect(kept).toContain('serving.log')
    expect(kept).toContain('tried-39.log')
    expect(kept).not.toContain('tried-0.log')
    expect(serving.lastLines()).toEqual(['for years'])
    serving.close()
  })

  it('keeps one older file of a log, each of some 8 MiB, whatever the characters', async () => {
    const log = createLogFolder(folder).open('long.log')
    log.add('first')
    await expect.poll(() => textOf('long.log')).toContain('first')
    for (let bytes = 0; bytes < LOG_BYTES_MAX; bytes += 1_500) log.add('€'.repeat(500))
    log.add('last')
    await expect.poll(() => textOf('long.log')).toContain('last')
    expect(textOf('long.log.1')).toContain('first')
    log.close()
  })

  it('begins a file anew where someone has deleted it', async () => {
    const log = createLogFolder(folder).open('deleted.log')
    log.add('first')
    await expect.poll(() => textOf('deleted.log')).toContain('first')
    rmSync(join(folder, 'deleted.log'))
    for (let bytes = 0; bytes < LOG_BYTES_MAX; bytes += 500) log.add('x'.repeat(500))
    log.add('last')
    await expect.poll(() => readdirSync(folder)).toContain('deleted.log')
    await expect.poll(() => textOf('deleted.log')).toContain('last')
    log.close()
  })

  it.runIf(existsSync('/dev/full'))('goes on once a full disk has room again', async () => {
    const path = join(folder, 'full.log')
    symlinkSync('/dev/full', path)
    const { open } = createLogFolder(folder)
    const log = open('full.log')
    log.add('lost')
    // Meanwhile the first one has failed.
    const other = open('other.log')
    for (const line of ['one', 'two', 'three']) {
      other.add(line)
      await expect.poll(() => textOf('other.log')).toContain(line)
    }
    other.close()
    rmSync(path)
    await expect
      .poll(() => {
        log.add('kept')
        return existsSync(path) ? textOf('full.log') : ''
      })
      .toContain('kept')
    log.close()
  })
})
