/** Schemes of links in user content: web pages and mail, never scripts or data. */
const SCHEMES = new Set(['http:', 'https:', 'mailto:'])

/** Whether a link is one that may be followed; one without a scheme leads to a page of this server. */
export function leadsToPage(href: string): boolean {
  const base = 'http://page.invalid'
  return URL.canParse(href, base) && SCHEMES.has(new URL(href, base).protocol)
}
