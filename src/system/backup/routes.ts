import { type Route, route } from '../../http/route.ts'
import type { Backups } from './service.ts'
import { BackupReq, BackupRes } from './wire.ts'

export function backupRoutes(backups: Backups): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/preview/system/backup',
      operationId: 'system_backup',
      summary: 'Write a backup of all data to a path on the machine of the server',
      family: 'training',
      access: 'operator',
      body: BackupReq,
      reply: 'jsonl',
      response: BackupRes,
      refusals: [409],
      handle: backups.write,
    }),
  ]
}
