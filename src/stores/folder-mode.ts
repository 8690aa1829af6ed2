/** Of folders with the data of all users, or with passwords: for their owner alone. */
export const FOLDER_MODE = 0o700
