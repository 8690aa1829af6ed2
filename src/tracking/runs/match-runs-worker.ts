import { serveLimitedWork } from '../../threads/serve-limited-work.ts'
import { matchRuns } from './match-runs.ts'

/** The program of the threads that filter runs. */
serveLimitedWork(matchRuns)
