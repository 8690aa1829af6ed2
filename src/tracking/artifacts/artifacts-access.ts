import type { Verb } from '../../access.ts'
import { namedProject, nodes } from '../../accounts/graphql/field-access.ts'
import { plainId } from '../../accounts/graphql/global-id.ts'
import type { Arguments } from '../../accounts/graphql/graphql-module.ts'
import { type Access, type AccessRule, together } from '../../http/access.ts'
import { linkTargetOf } from './link-target.ts'

const version = (verb: Verb) => nodes(verb, { artifactID: ['artifact version', 'Artifact'] })
const sequence = (verb: Verb) =>
  nodes(verb, { artifactSequenceID: ['artifact collection', 'ArtifactCollection'] })
const portfolio = (verb: Verb) =>
  nodes(verb, { artifactPortfolioID: ['artifact collection', 'ArtifactCollection'] })

/** The versions in the list `artifactFiles`. */
const versionsOfFiles: AccessRule<Arguments> = {
  verb: 'ingest',
  about: ({ artifactFiles }) => {
    const ids = new Set(membersOf(artifactFiles).map(({ artifactID }) => String(artifactID)))
    return [...ids].map((id) => ({ kind: 'artifact version', id: plainId('Artifact', id) }))
  },
}

/** The projects in the list `aliases`. */
const projectsOfAliases: AccessRule<Arguments> = {
  verb: 'write',
  about: ({ aliases }) =>
    membersOf(aliases).map(({ entityName, projectName }) => ({
      entity: String(entityName),
      project: String(projectName),
    })),
}

const linkTarget: AccessRule<Arguments> = {
  verb: 'write',
  about(input) {
    const target = linkTargetOf(input)
    if ('id' in target) return [{ kind: 'artifact collection', id: target.id }]
    return [{ entity: target.entity, project: target.project }]
  },
}

/** Who may ask for which field of artifacts. */
export const ARTIFACT_ACCESS: Record<string, Access<Arguments>> = {
  artifact: nodes('read', { id: ['artifact version', 'Artifact'] }),
  artifactCollection: nodes('read', { id: ['artifact collection', 'ArtifactCollection'] }),
  clientIDMapping: 'any-key',

  createArtifact: namedProject('ingest'),
  createArtifactManifest: version('ingest'),
  createArtifactFiles: versionsOfFiles,
  completeMultipartUploadArtifact: 'any-key',
  commitArtifact: version('ingest'),
  useArtifact: together(namedProject('ingest'), version('read')),
  updateArtifact: version('write'),
  deleteArtifact: version('write'),
  addAliases: together(version('write'), projectsOfAliases),
  deleteAliases: together(version('write'), projectsOfAliases),

  linkArtifact: together(linkTarget, version('read')),
  unlinkArtifact: together(portfolio('write'), version('read')),
  updateArtifactSequence: sequence('write'),
  updateArtifactPortfolio: portfolio('write'),
  moveArtifactSequence: sequence('write'),
  deleteArtifactSequence: sequence('write'),
  deleteArtifactPortfolio: portfolio('write'),
  createArtifactCollectionTagAssignments: namedProject('write'),
  deleteArtifactCollectionTagAssignments: namedProject('write'),
}

function membersOf(list: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list : []
}
