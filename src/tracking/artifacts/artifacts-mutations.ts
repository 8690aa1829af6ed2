import { globalId, plainId } from '../../accounts/graphql/global-id.ts'
import type { Resolver } from '../../accounts/graphql/graphql-module.ts'
import { invalidRequest, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { objectText } from '../object-text.ts'
import type { Runs } from '../runs/service.ts'
import { artifactFileId, versionNode } from './artifact-nodes.ts'
import type * as inputs from './artifacts-inputs.ts'
import { LATEST } from './names.ts'
import { createTellRun } from './refusals.ts'
import type { Artifacts } from './service.ts'

/** What errors call it. */
const METADATA = 'metadata of an artifact'

/** Changes that W&B clients make. */
export function artifactMutations(artifacts: Artifacts, runs: Runs): Record<string, Resolver> {
  async function payload(id: string) {
    const row = await artifacts.version(id)
    if (row === undefined) throw notFound('artifact version', id)
    return { artifact: versionNode(row) }
  }

  return {
    ...uploadMutations(artifacts, runs, payload),

    async updateArtifact(_: unknown, { input }: { input: inputs.UpdateArtifact }) {
      refuseEnd(input.ttlDurationSeconds)
      if (input.aliases?.length) throw invalidRequest('Aliases are changed by addAliases and deleteAliases')
      const id = plainId('Artifact', input.artifactID)
      const gone = new Set(namesOf(input.tagsToDelete))
      await artifacts.describe(id, {
        ...(input.metadata != null && { metadata: objectText(METADATA, input.metadata) }),
        ...(input.description !== undefined && { description: input.description }),
        tags: (present) => [
          ...new Set([...present, ...namesOf(input.tagsToAdd)].filter((tag) => !gone.has(tag))),
        ],
      })
      return payload(id)
    },

    async deleteArtifact(_: unknown, { input }: { input: inputs.DeleteArtifact }) {
      const id = plainId('Artifact', input.artifactID)
      if (input.deleteAliases !== true) await artifacts.checkUnnamed(id)
      const answer = await payload(id)
      await artifacts.removeVersions([id])
      return answer
    },

    async useArtifact(_: unknown, { input }: { input: inputs.UseArtifact }) {
      const { entityName: entity, projectName: project, runName } = input
      const run = await runs.find({ entity, project, run: runName })
      if (run === undefined) throw notFound('run', `${entity}/${project}/${runName}`)
      const artifact_id = plainId('Artifact', input.artifactID)
      await artifacts.use({ run_id: run.id, artifact_id })
      return payload(artifact_id)
    },

    async addAliases(_: unknown, { input }: { input: inputs.Aliases }) {
      await artifacts.setAliases(plainId('Artifact', input.artifactID), aliasesIn(input))
      return { success: true }
    },

    /** Wire: clients remove `latest` like any other alias; here it always belongs to the newest version. */
    async deleteAliases(_: unknown, { input }: { input: inputs.Aliases }) {
      const gone = aliasesIn(input).filter(({ alias }) => alias !== LATEST)
      await artifacts.removeAliases(plainId('Artifact', input.artifactID), gone)
      return { success: true }
    },
  }
}

/** The steps of an upload, in their order. */
function uploadMutations(
  artifacts: Artifacts,
  runs: Runs,
  payload: (id: string) => Promise<object>,
): Record<string, Resolver> {
  const tellRun = createTellRun(runs)

  /** Does a part of the upload of a version. */
  async function uploading<Done>(id: string, work: () => Promise<Done>): Promise<Done> {
    const version = await artifacts.version(id)
    return version === undefined ? work() : tellRun(version, work)
  }

  return {
    async createArtifact(_: unknown, { input }: { input: inputs.CreateArtifact }, { caller }: CallContext) {
      const { entityName: entity, projectName: project } = input
      const name = input.artifactCollectionName ?? input.artifactCollectionNames?.[0]
      if (name == null) throw invalidRequest('An artifact needs a name')
      const run = input.runName == null ? undefined : await runs.find({ entity, project, run: input.runName })
      const run_id = run?.id ?? null
      return tellRun({ run_id, name }, async () => {
        checkSupported(input)
        const id = await artifacts.create({
          entity,
          project,
          name,
          type: input.artifactTypeName,
          digest: input.digest,
          aliases: (input.aliases ?? []).map(({ alias }) => alias),
          metadata: objectText(METADATA, input.metadata ?? '{}'),
          description: input.description ?? null,
          tags: namesOf(input.tags),
          run_id,
          client_id: input.clientID ?? null,
          created_by: caller.user,
        })
        return payload(id)
      })
    },

    /** Wire: called twice, first without a digest before the files are uploaded, then with the real one. */
    async createArtifactManifest(
      _: unknown,
      { input }: { input: inputs.CreateManifest },
      context: CallContext,
    ) {
      const artifactId = plainId('Artifact', input.artifactID)
      await uploading(artifactId, async () => {
        if ((input.type ?? 'FULL') !== 'FULL') throw invalidRequest('Only whole manifests are supported')
        await artifacts.announceManifest(artifactId, input.digest)
      })
      const id = globalId('ArtifactManifest', artifactId)
      const uploadUrl = (): Promise<string> => artifacts.manifestUrl('PUT', artifactId, context)
      const file = {
        id,
        name: input.name,
        displayName: input.name,
        sizeBytes: 0,
        uploadUrl,
        uploadHeaders: [],
      }
      return { artifactManifest: { id, digest: input.digest, file } }
    },

    /** Wire: the reply has the order of the request. */
    async createArtifactFiles(_: unknown, { input }: { input: inputs.CreateFiles }, context: CallContext) {
      const files = input.artifactFiles.map((file) => ({ ...file, id: plainId('Artifact', file.artifactID) }))
      for (const [id, announced] of Map.groupBy(files, (file) => file.id)) {
        await artifacts.announceFiles(id, announced)
      }
      const edges = files.map(({ id, name, artifactID }) => ({
        node: {
          id: artifactFileId(id, name),
          name,
          displayName: name,
          storagePath: name,
          uploadUrl: () => artifacts.fileUrl('PUT', id, name, context),
          uploadHeaders: [],
          artifact: { id: artifactID },
        },
      }))
      return { files: { edges } }
    },

    /** Wire: clients send a file in one piece, however large it is, when `uploadMultipartUrls` is null. */
    completeMultipartUploadArtifact: () => {
      throw invalidRequest('Files are uploaded whole to their uploadUrl, not in parts')
    },

    async commitArtifact(_: unknown, { input }: { input: inputs.CommitArtifact }, { caller }: CallContext) {
      const id = plainId('Artifact', input.artifactID)
      await uploading(id, () => artifacts.commit(id, caller.rights))
      return payload(id)
    },
  }
}

/** @throws 400 for a version of a kind that clients know and this server does not keep */
function checkSupported(input: inputs.CreateArtifact): void {
  refuseEnd(input.ttlDurationSeconds)
  if (input.distributedID != null) throw invalidRequest('Artifacts of several writers are not supported')
  if (input.digestAlgorithm === 'MANIFEST_XXH128') throw invalidRequest('Digests of files are MD5s')
}

function aliasesIn({ aliases }: inputs.Aliases) {
  return aliases.map(({ alias, entityName: entity, projectName: project, artifactCollectionName: name }) => ({
    alias,
    of: { entity, project, name },
  }))
}

/** Wire: -1 inherits how long a version is kept, and -2 keeps it. @throws 400 for a version that would end by itself */
function refuseEnd(seconds: number | string | null | undefined): void {
  if (Number(seconds ?? 0) > 0)
    throw invalidRequest('A ttl of an artifact is not supported: versions stay until they are deleted')
}

function namesOf(tags: readonly { tagName: string }[] | null | undefined): string[] {
  return (tags ?? []).map(({ tagName }) => tagName)
}
