import type { Command } from 'commander'
import { addBackup } from './backup.ts'
import { addDoctor } from './doctor.ts'
import { addKeys } from './keys.ts'
import { addMove } from './move.ts'
import { addRestore } from './restore.ts'
import { addServe } from './serve.ts'
import { addTeams } from './teams.ts'
import { addUsers } from './users.ts'
import { addVersion } from './version.ts'

/**
 * Adds a command to the program. What its action throws is printed, and the exit code is 1. What only the action needs
 * and takes long to load (the server, the stores, their checks), it imports itself: each command loads all of these
 * files.
 */
export type AddCommand = (program: Command) => void

/** All commands, in the order in which help lists them. */
export const COMMANDS: readonly AddCommand[] = [
  addServe,
  addKeys,
  addUsers,
  addTeams,
  addBackup,
  addRestore,
  addMove,
  addDoctor,
  addVersion,
]
