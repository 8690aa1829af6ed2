/** Wire: code points are counted, which may be two units of UTF-16 each. */
export function isLonger(text: string, characters: number): boolean {
  return text.length > characters && [...text].length > characters
}
