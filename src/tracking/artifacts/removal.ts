import type { Contents } from '../../contents/service.ts'
import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import { deleteCollection } from './collection-queries.ts'
import { versionStates } from './queries.ts'
import { collectionIdsOf, selectIdsIn, sumVersions } from './removal-queries.ts'
import { MANIFEST_OWNER_PREFIX, OWNER_PREFIX, ownersOf } from './writer.ts'

/** Removes artifacts of all types, committed or not. */
export function createArtifactsRemoval(deps: { control: ControlDb; contents: Contents }): Removal {
  const { control, contents } = deps
  return {
    async countProjects(projectIds) {
      return [{ kind: 'artifact_versions', ...(await sumVersions(control, projectIds)) }]
    },

    async eraseProjects(projectIds, signal) {
      for (const id of await collectionIdsOf(control, projectIds)) {
        signal.throwIfAborted()
        const versions = (await versionStates(control, id)).map((version) => version.id)
        await contents.release(ownersOf(versions))
        await control.transaction().execute((tx) => deleteCollection(tx, id))
      }
    },

    /** What a deletion, or the commit of a version, had still to release when it failed. */
    async purge(before) {
      const at = Date.parse(before)
      await contents.releaseLeftovers(OWNER_PREFIX, at, selectIdsIn(control, ['PENDING', 'COMMITTED']))
      await contents.releaseLeftovers(MANIFEST_OWNER_PREFIX, at, selectIdsIn(control, ['PENDING']))
    },

    renameUser: (user) => renameUserIn(control, { artifact_versions: ['created_by'] }, user),
  }
}
