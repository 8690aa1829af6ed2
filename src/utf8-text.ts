/** Bytes as a text. What is no UTF-8 becomes U+FFFD, and a byte order mark stays. */
export function utf8Text({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
}
