/**
 * Folders as objects of a bucket. The engine has the other half, in `engine/src/engine/bucket.py`:
 *
 *     folders/outputs/01a1…             {"generation": "…", "files": [{"name": "a.json", "bytes": 812}, …]}
 *     files/outputs/01a1…/GENERATION/0  the bytes of the first of these files
 *
 * The object below `folders/` is written last and replaced at once, so a folder is whole or not there. Each time that a
 * folder is written, its files are a new generation; those of the last one are deleted after it.
 */
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { z } from 'zod'
import { slicesOf } from '../../slices.ts'
import type { S3Options } from '../blobs/s3-address.ts'
import { isMissing } from '../blobs/s3-errors.ts'

/** What S3 deletes by one request. */
const DELETED_AT_ONCE = 1_000

/** Folders of which the lists of files are read at once. */
const READ_AT_ONCE = 16

const Folder = z.object({
  generation: z.string().regex(/^[A-Za-z0-9-]+$/),
  files: z.array(z.object({ name: z.string(), bytes: z.int() })),
})

/** The files of a folder. */
export type BucketFolder = z.output<typeof Folder>

/** An entry of a list. */
interface Listed {
  key: string
  modifiedAt: number
}

/** The objects of folders below a prefix of a bucket. */
export interface BucketFolders {
  /** The key of a file; files are numbered in the order of the folder's list. */
  fileKey(folder: string, generation: string, index: number): string
  read(folder: string): Promise<BucketFolder | undefined>
  /** Makes a folder whole, or replaces it; its files are there already. */
  write(folder: string, content: BucketFolder): Promise<void>
  /** Deletes a folder's list of files first, and then its files. */
  delete(folder: string): Promise<void>
  /** Deletes all folders inside a folder. */
  deleteInside(folder: string): Promise<void>
  deleteFiles(folder: string, content: BucketFolder): Promise<void>
  deleteKeys(keys: readonly string[]): Promise<void>
  /** What is directly in a folder that is no list of files itself: folders, and folders with folders in them. */
  inside(folder: string): AsyncIterable<{ name: string; modifiedAt: number | undefined }>
  /** All files, of any generation, from a key on. */
  files(after?: string): AsyncIterable<Listed & { folder: string; generation: string }>
}

export function createBucketFolders(
  s3: S3Client,
  { bucket: Bucket, prefix }: Pick<S3Options, 'bucket' | 'prefix'>,
): BucketFolders {
  const lists = `${prefix}folders/`
  const files = `${prefix}files/`
  const generationKey = (folder: string, generation: string): string => `${files}${folder}/${generation}/`
  const fileKey = (folder: string, generation: string, index: number): string =>
    generationKey(folder, generation) + index

  async function read(folder: string): Promise<BucketFolder | undefined> {
    try {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: lists + folder }))
      return Folder.parse(JSON.parse((await Body?.transformToString()) ?? ''))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async function deleteKeys(keys: readonly string[]): Promise<void> {
    for (const some of slicesOf(keys, DELETED_AT_ONCE)) {
      const Objects = some.map((Key) => ({ Key }))
      const { Errors = [] } = await s3.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
      )
      const [failed] = Errors.filter(({ Code }) => Code !== 'NoSuchKey')
      if (failed !== undefined) throw new Error(`${failed.Key} was not deleted: ${failed.Message}`)
    }
  }

  const keysOf = (folder: string, { generation, files: all }: BucketFolder): string[] =>
    all.map((_, index) => fileKey(folder, generation, index))

  async function deleteAll(folders: readonly string[]): Promise<void> {
    const contents = await pMap(folders, read, { concurrency: READ_AT_ONCE })
    await deleteKeys(folders.map((folder) => lists + folder))
    await deleteKeys(
      folders.flatMap((folder, index) => {
        const content = contents[index]
        return content === undefined ? [] : keysOf(folder, content)
      }),
    )
  }

  async function* below(Prefix: string, more: { Delimiter?: string; StartAfter?: string | undefined }) {
    for await (const page of paginateListObjectsV2({ client: s3 }, { Bucket, Prefix, ...more })) {
      for (const { Prefix: common = '' } of page.CommonPrefixes ?? [])
        yield { key: common.slice(0, -1), modifiedAt: undefined }
      for (const { Key = '', LastModified } of page.Contents ?? [])
        yield { key: Key, modifiedAt: LastModified?.getTime() ?? Date.now() }
    }
  }

  return {
    fileKey,
    read,
    async write(folder, content) {
      const Body = JSON.stringify(content)
      await s3.send(new PutObjectCommand({ Bucket, Key: lists + folder, Body }))
    },
    delete: (folder) => deleteAll([folder]),
    async deleteInside(folder) {
      const some: string[] = []
      for await (const { key } of below(`${lists}${folder}/`, {})) {
        some.push(key.slice(lists.length))
        if (some.length === DELETED_AT_ONCE) await deleteAll(some.splice(0))
      }
      if (some.length > 0) await deleteAll(some)
    },
    deleteFiles: (folder, content) => deleteKeys(keysOf(folder, content)),
    deleteKeys,
    async *inside(folder) {
      const start = `${lists}${folder}/`
      // Some stores have an object for a folder of which all objects are gone.
      for await (const { key, modifiedAt } of below(start, { Delimiter: '/' }))
        if (key.length > start.length) yield { name: key.slice(start.length), modifiedAt }
    },
    async *files(after) {
      for await (const { key, modifiedAt } of below(files, { StartAfter: after })) {
        const [, folder, generation] = /^(.+)\/([^/]+)\/\d+$/.exec(key.slice(files.length)) ?? []
        if (folder !== undefined && generation !== undefined && modifiedAt !== undefined)
          yield { key, modifiedAt, folder, generation }
      }
    },
  }
}
