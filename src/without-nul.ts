/** A text with U+FFFD for U+0000, which may come from users and which the control database refuses. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
