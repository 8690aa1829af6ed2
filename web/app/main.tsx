import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { watchConnection } from '../api/connection.ts'
import { App } from './app.tsx'
import { prefetchPages } from './prefetch.ts'
import './styles.css'

watchConnection()
addEventListener('load', prefetchPages, { once: true })

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no #root')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
