/** A text as the value of a header, which takes Latin letters at most: what is not ASCII as percent-encoded UTF-8. */
export function headerText(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent)
}
