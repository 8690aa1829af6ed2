import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { watchConnection } from '../api/connection.ts'
import { createQueryClient } from '../api/query-client.ts'
import { App } from './app.tsx'
import { prefetchPages } from './prefetch.ts'
import './styles.css'

const queryClient = createQueryClient()
watchConnection()
addEventListener('load', () => prefetchPages(queryClient), { once: true })

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no #root')
createRoot(root).render(
  <StrictMode>
    <App queryClient={queryClient} />
  </StrictMode>,
)
