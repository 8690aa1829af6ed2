/** The list of traces of each server: where it is, which of its elements are rows, and which show one of them. */
import type { Page } from '@playwright/test'
import { z } from 'zod'
import type { FilledServer, PageServerName } from './filled-server.ts'

export interface ListPage {
  path(server: FilledServer): Promise<string>
  /** Selectors of a row, and of what shows one. */
  row: string
  details: string
  /** Ends what only a first visit shows. */
  welcome?(page: Page): Promise<void>
}

const PhoenixProjects = z.object({
  data: z.object({
    projects: z.object({
      edges: z.array(z.object({ node: z.object({ id: z.string(), name: z.string() }) })),
    }),
  }),
})

export const PAGES: Record<PageServerName, ListPage> = {
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
      const { data } = PhoenixProjects.parse(await reply.json())
      const found = data.projects.edges.find(({ node }) => node.name === project)
      if (found === undefined) throw new Error(`Phoenix does not have ${project}`)
      return `/projects/${found.node.id}/spans`
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
