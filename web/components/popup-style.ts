/** What opens over the page looks the same everywhere. */
export const POPUP =
  'raised-shade animate-rise thin-scroll max-h-[min(24rem,var(--available-height))] overflow-y-auto overscroll-contain rounded-lg bg-raised p-1 text-sm text-normal outline-none'

export const POPUP_ITEM =
  'flex min-h-7 cursor-default items-center gap-2 rounded-md px-2 py-1 outline-none select-none data-disabled:text-disabled data-highlighted:bg-hover data-highlighted:text-strong coarse:min-h-11'

export const POPUP_LABEL = 'px-2 pt-1.5 pb-0.5 text-2xs text-muted'
