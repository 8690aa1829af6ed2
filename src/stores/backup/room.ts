import { statfs } from 'node:fs/promises'
import { conflict } from '../../errors.ts'

/** @throws 409 where the disk of a folder has no room for the bytes of a backup */
export async function requireRoom(bytes: number, folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bytes > bavail * bsize)
    throw conflict(`The backup has ${bytes} bytes, and ${folder} has room for ${bavail * bsize}`)
}
