// Before the first paint, so that nobody sees the other theme flash by. `app/theme.ts` writes what this reads.
;(() => {
  const chosen = localStorage.getItem('heddle.theme')
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
})()
