import { Page } from '../../components/page.tsx'

/** Filled in by the page's own work. */
export function ThreadsPage() {
  return <Page title="Threads" />
}
