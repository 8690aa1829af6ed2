/** The keys that do the same, as they are written in the sheet. */
export function Keys({ keys }: { keys: string }) {
  const isMac = navigator.platform.startsWith('Mac')
  return (
    <span className="ms-2 inline-flex gap-1">
      {keys.split(' ').map((key) => (
        <kbd key={key} className="rounded-sm border border-hair bg-inset px-1 font-mono text-2xs text-muted">
          {key
            .replace('mod+', isMac ? '⌘' : 'Ctrl ')
            .replace('shift+', '⇧')
            .replace('ArrowDown', '↓')
            .replace('ArrowUp', '↑')}
        </kbd>
      ))}
    </span>
  )
}
