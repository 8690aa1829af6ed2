/** `npm start`: the server, as `heddle serve` runs it. */
import { serve } from './serve.ts'

await serve()
