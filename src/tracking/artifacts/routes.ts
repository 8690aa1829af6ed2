import { type Route, route } from '../../http/route.ts'
import { pageOf } from '../../training/page-wire.ts'
import type { Artifacts } from './service.ts'
import * as wire from './wire.ts'

/** Artifacts over plain HTTP; W&B clients use GraphQL and the signed URLs under `/storage/`. */
export function artifactsRoutes(artifacts: Artifacts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/preview/artifacts',
      operationId: 'list_artifacts',
      family: 'training',
      query: wire.ArtifactsListQuery,
      reply: 'json',
      response: pageOf(wire.ArtifactItem),
      handle: artifacts.list,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/artifacts/{artifact_id}/files/{name}',
      operationId: 'get_artifact_file',
      family: 'training',
      pathParams: wire.FilePath,
      reply: 'raw',
      response: wire.Bytes,
      handle: artifacts.file,
    }),
    route({
      method: 'PUT',
      path: '/storage/artifact-files/{artifact_id}',
      operationId: 'upload_artifact_file',
      family: 'training',
      auth: 'open',
      pathParams: wire.ArtifactPath,
      query: wire.SignedFileQuery,
      body: wire.Upload,
      bodyKind: 'stream',
      streamedBody: wire.Bytes,
      reply: 'json',
      response: wire.UploadRes,
      handle: artifacts.receiveFile,
    }),
    route({
      method: 'GET',
      path: '/storage/artifact-files/{artifact_id}',
      operationId: 'download_artifact_file',
      family: 'training',
      auth: 'open',
      pathParams: wire.ArtifactPath,
      query: wire.SignedFileQuery,
      reply: 'raw',
      response: wire.Bytes,
      handle: artifacts.signedFile,
    }),
    route({
      method: 'PUT',
      path: '/storage/artifact-manifests/{artifact_id}',
      operationId: 'upload_artifact_manifest',
      family: 'training',
      auth: 'open',
      pathParams: wire.ArtifactPath,
      query: wire.SignedQuery,
      body: wire.Upload,
      bodyKind: 'stream',
      streamedBody: wire.Bytes,
      reply: 'json',
      response: wire.UploadRes,
      handle: artifacts.receiveManifest,
    }),
    route({
      method: 'GET',
      path: '/storage/artifact-manifests/{artifact_id}',
      operationId: 'download_artifact_manifest',
      family: 'training',
      auth: 'open',
      pathParams: wire.ArtifactPath,
      query: wire.SignedQuery,
      reply: 'raw',
      response: wire.Bytes,
      handle: artifacts.signedManifest,
    }),
  ]
}
