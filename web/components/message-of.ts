/** The words of what was thrown. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)) || 'No reason is known.'
}
