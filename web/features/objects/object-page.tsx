import { Page } from '../../components/page.tsx'

/** Filled in by the page's own work. */
export function ObjectPage() {
  return <Page title="Object" />
}
