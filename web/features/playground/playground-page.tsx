import { Page } from '../../components/page.tsx'

/** Filled in by the page's own work. */
export function PlaygroundPage() {
  return <Page title="Playground" />
}
