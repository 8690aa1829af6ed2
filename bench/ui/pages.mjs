/** The list of traces of each server: where it is, which of its elements are rows, and which show one of them. */

export const PAGES = {
  Heddle: {
    path: async ({ project }) => `/${project}/traces`,
    row: '[role=grid] [role=row][data-index]',
    details: '[role=complementary][aria-label=call], aside[aria-label=call]',
  },
  Phoenix: {
    async path({ server, project }) {
      const query = '{ projects { edges { node { id name } } } }'
      const reply = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const { data } = await reply.json()
      const { node } = data.projects.edges.find((edge) => edge.node.name === project)
      return `/projects/${node.id}/spans`
    },
    row: 'tbody tr',
    details: '.drawer, [role=dialog]',
  },
  MLflow: {
    path: async ({ prepared }) => `/#/experiments/${prepared['x-mlflow-experiment-id']}/traces`,
    row: '[role=row]',
    details: '[role=dialog]',
    /** A welcome message for first visits covers the table. */
    async welcome(page) {
      await page.getByRole('button', { name: 'Got it' }).click()
    },
  },
}
