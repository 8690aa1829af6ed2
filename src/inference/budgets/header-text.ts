/**
 * A text as the value of a header, which takes printable Latin letters at most: anything but printable ASCII, and `%`
 * itself, as percent-encoded UTF-8.
 */
export function headerText(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent)
}
