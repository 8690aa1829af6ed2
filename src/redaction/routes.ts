import * as access from '../http/access.ts'
import { type Route, route } from '../http/route.ts'
import { IfVersion } from '../wire/settings-version-wire.ts'
import type { Redaction } from './service.ts'
import * as wire from './wire.ts'

export function redactionRoutes(redaction: Redaction): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/redaction',
      operationId: 'redaction_read',
      summary:
        'The rules by which data of a project is redacted before it is stored, and how often each found something',
      family: 'trace',
      access: access.pathProject('read'),
      pathParams: wire.ProjectPath,
      reply: 'json',
      response: wire.RedactionRes,
      handle: redaction.read,
    }),
    route({
      method: 'PUT',
      path: '/v2/{entity}/{project}/redaction',
      operationId: 'redaction_put',
      summary: 'Set the rules by which data of a project is redacted before it is stored',
      family: 'trace',
      access: access.pathProject('manage'),
      pathParams: wire.ProjectPath,
      query: IfVersion,
      body: wire.RedactionPutReq,
      reply: 'json',
      response: wire.RedactionRes,
      refusals: [409],
      handle: redaction.put,
    }),
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/redaction/test',
      operationId: 'redaction_test',
      summary: 'Apply redaction rules to a sample',
      family: 'trace',
      access: access.pathProject('write'),
      pathParams: wire.ProjectPath,
      body: wire.RedactionTestReq,
      reply: 'json',
      response: wire.RedactionTestRes,
      handle: redaction.test,
    }),
  ]
}
