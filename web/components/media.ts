import { useSyncExternalStore } from 'react'

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )
}

/** A phone: for reading, so rows have two lines and panels cover the page. The breakpoint `md` of the styles. */
export function useIsNarrow(): boolean {
  return useMedia('(max-width: 799px)')
}
