import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark' | 'system'

/** `public/theme.js` reads this before the first paint. */
const STORED = 'heddle.theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

systemIsDark.addEventListener('change', show)

function chosen(): Theme {
  const stored = localStorage.getItem(STORED)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(STORED)
  else localStorage.setItem(STORED, theme)
  show()
}

/** What the person chose, and follows the choice. */
export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, chosen)
}

/** Colours live in CSS, so a switch renders nothing again; canvases watch the attribute. */
function show(): void {
  const theme = chosen()
  const isDark = theme === 'dark' || (theme === 'system' && systemIsDark.matches)
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
  for (const listener of listeners) listener()
}
