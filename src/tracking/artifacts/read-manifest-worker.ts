import { serveLimitedWork } from '../../threads/serve-limited-work.ts'
import { parseManifest } from './manifest.ts'

/** The program of the threads that read large manifests. */
serveLimitedWork(parseManifest)
