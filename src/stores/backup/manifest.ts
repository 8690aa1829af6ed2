import { createHash } from 'node:crypto'
import gt from 'semver/functions/gt.js'
import valid from 'semver/functions/valid.js'
import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'

/** Its name in a backup. It is written last: without it, a backup is not whole. */
export const MANIFEST = 'manifest.jsonl'

/** Raised when an older program cannot read new backups. */
const FORMAT = 1

const Header = z.object({
  format: z.int(),
  /** The program that made it. */
  heddle: z.string().refine((version) => valid(version) !== null),
  taken_at: z.string(),
  /** Migrations of the control database. */
  migrations: z.array(z.string()),
})

/** Parts that neither are hidden nor lead elsewhere. */
const Name = z.string().regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/)

const FileEntry = z.object({ name: Name, size: z.int(), sha256: z.string().length(64) })
const LinkEntry = z.object({ name: Name, link: z.string().regex(/^(\.\.\/)?[\w-][\w.-]*(\/[\w-][\w.-]*)*$/) })
const End = z.object({ files: z.int(), sha256: z.string() })

/** A file of a backup, with its bytes and their SHA-256, hexadecimal. */
export type FileEntry = z.output<typeof FileEntry>
export type LinkEntry = z.output<typeof LinkEntry>

/** Whether a file of a backup may have a name. */
export function isFileName(name: string): boolean {
  return Name.safeParse(name).success
}

/** What a backup holds. */
export interface Manifest extends Omit<z.output<typeof Header>, 'format'> {
  files: FileEntry[]
  links: LinkEntry[]
}

/** One line for the backup, one for each link and file, and a last one with their number and the hash of all before. */
export function manifestText({ files, links, ...backup }: Manifest): string {
  const lines = [{ format: FORMAT, ...backup }, ...links, ...files]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return `${text}${JSON.stringify({ files: files.length, sha256: sha256(text) })}\n`
}

/**
 * Reads and checks a manifest.
 * @throws 400 that names the version which made it, where this program cannot read it; or that it is damaged
 */
export function readManifest(
  text: string,
  program: { version: string; migrations: readonly string[] },
): Manifest {
  const [first = '', ...lines] = text.trimEnd().split('\n')
  const { format, ...header } = parsed(Header, first)
  refuseNewer(format, header, program)
  const last = lines.pop() ?? ''
  const end = parsed(End, last)
  const isWhole = sha256(text.slice(0, text.trimEnd().length - last.length)) === end.sha256
  if (!isWhole) throw damaged('it is not as it was written')
  const files: FileEntry[] = []
  const links: LinkEntry[] = []
  for (const line of lines) {
    if (line.includes('"link":')) links.push(parsed(LinkEntry, line))
    else files.push(parsed(FileEntry, line))
  }
  return { ...header, files, links }
}

function refuseNewer(
  format: number,
  { heddle, migrations }: { heddle: string; migrations: readonly string[] },
  program: { version: string; migrations: readonly string[] },
): void {
  const unknown = migrations.find((name) => !program.migrations.includes(name))
  if (format <= FORMAT && !gt(heddle, program.version) && unknown === undefined) return
  const reason = unknown === undefined ? '' : ` and has the migration ${unknown}, which this one has not`
  throw invalidRequest(
    `The backup was made by Heddle ${heddle}, which is newer than this one (${program.version})${reason}: restore it with Heddle ${heddle} or newer`,
  )
}

function parsed<Schema extends z.ZodType>(schema: Schema, line: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(line))
  } catch (error) {
    throw damaged(`it cannot be read`, error)
  }
}

function damaged(reason: string, cause?: unknown): Error {
  return Object.assign(invalidRequest(`The manifest of the backup is damaged: ${reason}`), { cause })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
