import { serveLimitedWork } from '../threads/serve-limited-work.ts'
import { jsonDigest } from './digest.ts'

/** The program of the thread that makes digests of large texts. */
serveLimitedWork(jsonDigest)
