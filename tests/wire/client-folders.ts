import { join } from 'node:path'

/**
 * Settings of weave and wandb that keep their files in a folder: their cache on this machine would hide the server's
 * replies.
 */
export function clientFolders(folder: string): Record<string, string> {
  return {
    WEAVE_SERVER_CACHE_DIR: join(folder, 'weave'),
    WANDB_CACHE_DIR: join(folder, 'cache'),
    WANDB_DATA_DIR: join(folder, 'data'),
    WANDB_CONFIG_DIR: join(folder, 'config'),
    WANDB_ARTIFACT_DIR: join(folder, 'artifacts'),
    WANDB_ERROR_REPORTING: 'false',
  }
}
