import type { Holder } from '../../src/stores/data-folder.ts'

/** Where the holder of a data folder answers; an address of all interfaces is none to ask. */
export function askableUrl(holder: Holder | undefined): string | undefined {
  return holder?.url?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
