import { serialize } from 'node:v8'
import { serveLimitedWork } from '../../threads/serve-limited-work.ts'
import { rowsOfGroup, type StoredGroup } from './group-rows.ts'

/**
 * The program of the threads that make rows of large groups: lists of rows, serialized, of which one is read at a time.
 */
serveLimitedWork((group: StoredGroup): Uint8Array[] => [...rowsOfGroup(group)].map((rows) => serialize(rows)))
