import { Page } from '../../components/page.tsx'

/** Filled in by the page's own work. */
export function ComparePage() {
  return <Page title="Compare" />
}
