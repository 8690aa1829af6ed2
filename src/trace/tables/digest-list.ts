import { slicesOf } from '../../slices.ts'

/**
 * Digests in one block, half of the most: a change moves those of one block, and passes by all blocks before it. Of a
 * million digests that is a thousand of each.
 */
const BLOCK_LENGTH = 1024

/** A list of digests, in which a change in the middle costs about the same however long the list is. */
export interface DigestList {
  length(): number
  /** Puts a digest before the one at an index from 0 to the length. */
  insert(index: number, digest: string): void
  /** Removes the digest at an index from 0 to below the length, and returns it. */
  remove(index: number): string
  /** All digests in order. */
  all(): string[]
}

export function createDigestList(digests: readonly string[]): DigestList {
  const blocks: string[][] = []
  for (const some of slicesOf(digests, BLOCK_LENGTH)) blocks.push(some)
  let length = digests.length

  /** The first block that reaches an index, and the place in it. */
  function placeOf(index: number): { at: number; block: string[]; place: number } | undefined {
    let at = 0
    let place = index
    for (const { length: passed } of blocks) {
      if (place < passed) break
      place -= passed
      at++
    }
    const block = blocks[at]
    return block && { at, block, place }
  }

  function insert(index: number, digest: string): void {
    // A digest at a block's end goes into that block, so that the end of the list needs no case of its own.
    const before = index === 0 ? placeOf(0) : placeOf(index - 1)
    length++
    if (before === undefined) {
      blocks.push([digest])
      return
    }
    const { at, block, place } = before
    block.splice(index === 0 ? 0 : place + 1, 0, digest)
    if (block.length >= 2 * BLOCK_LENGTH)
      blocks.splice(at, 1, block.slice(0, BLOCK_LENGTH), block.slice(BLOCK_LENGTH))
  }

  function remove(index: number): string {
    const found = placeOf(index)
    const [digest] = found?.block.splice(found.place, 1) ?? []
    if (found === undefined || digest === undefined) throw new RangeError(`No digest at ${index}`)
    if (found.block.length === 0) blocks.splice(found.at, 1)
    length--
    return digest
  }

  return { length: () => length, insert, remove, all: () => blocks.flat() }
}
