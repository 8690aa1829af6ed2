/** Digests and size of some bytes. */
export interface Content {
  /** SHA-256, hexadecimal: the name of the bytes. */
  digest: string
  /** MD5, base64. Wire: W&B clients name the files of artifacts by it. */
  md5: string
  size: number
}
