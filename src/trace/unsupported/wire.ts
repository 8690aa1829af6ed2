import { z } from 'zod'

/** Nothing is ever answered but an error. */
export const Nothing = z.never()
