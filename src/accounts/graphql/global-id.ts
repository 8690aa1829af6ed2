import { notFound } from '../../errors.ts'

/** Wire: ids in GraphQL are `Kind:id` in base64, which some clients decode. */
export function globalId(kind: string, id: string): string {
  return Buffer.from(`${kind}:${id}`).toString('base64')
}

/** The id inside a global one. @throws 404 for one of another kind. */
export function plainId(kind: string, text: string): string {
  const decoded = Buffer.from(text, 'base64').toString('utf8')
  if (!decoded.startsWith(`${kind}:`)) throw notFound(kind, text.slice(0, 100))
  return decoded.slice(kind.length + 1)
}
