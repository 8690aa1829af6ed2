import { auditRoutes } from '../accounts/audit/routes.ts'
import { type Audit, createAudit } from '../accounts/audit/service.ts'
import { createAccountsAuthenticator } from '../accounts/authenticator.ts'
import { accountsModule } from '../accounts/graphql/accounts-module.ts'
import type { GraphqlModule } from '../accounts/graphql/graphql-module.ts'
import { graphqlRoutes } from '../accounts/graphql/routes.ts'
import { createGraphql } from '../accounts/graphql/service.ts'
import { createIdentity, type Identity } from '../accounts/identity/service.ts'
import { keysRoutes } from '../accounts/keys/routes.ts'
import { createKeys, type Keys } from '../accounts/keys/service.ts'
import { createCallerLimits } from '../accounts/limits/caller-limits.ts'
import { createLimitBook, type LimitBook } from '../accounts/limits/limit-book.ts'
import { limitsRoutes } from '../accounts/limits/routes.ts'
import { createUsageLimits } from '../accounts/limits/service.ts'
import { createStorageUse, type MeasureStorage } from '../accounts/limits/storage-use.ts'
import { createWorkLimits, type WorkLimits } from '../accounts/limits/work-limits.ts'
import { createPrincipals, type Principals } from '../accounts/principals.ts'
import type { Projects } from '../accounts/projects.ts'
import { type AuthMode, createMe } from '../accounts/sessions/me.ts'
import { sessionsRoutes } from '../accounts/sessions/routes.ts'
import { createSessions, type Sessions } from '../accounts/sessions/service.ts'
import { teamsRoutes } from '../accounts/teams/routes.ts'
import { createTeams } from '../accounts/teams/service.ts'
import { usersRoutes } from '../accounts/users/routes.ts'
import { createUsers } from '../accounts/users/service.ts'
import { withoutAccounts } from '../accounts/without-accounts.ts'
import type { Authorize, Owners } from '../http/access.ts'
import { type Authenticator, LOCAL_AUTHENTICATOR } from '../http/auth.ts'
import type { CallerLimits } from '../http/caller-limits.ts'
import type { Log } from '../log.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { SecretKey } from '../stores/secret-key.ts'
import type { Area } from './area.ts'

export interface AccountsDeps {
  control: ControlDb
  secretKey: SecretKey
  auth: AuthMode
  projects: Projects
  log: Log
}

/** Who callers are and what they may do; other areas use it, so it is created before them. */
export interface Accounts {
  audit: Audit
  authenticator: Authenticator
  identity: Identity
  keys: Pick<Keys, 'home'>
  callerLimits: CallerLimits
  /** Of keys and entities, for parts with limits of their own. */
  limitBook: Pick<LimitBook, 'of'>
  workLimits: WorkLimits
  principals: Principals
  sessions: Sessions
  /** Its endpoints, and the W&B API, to which other areas add their parts. */
  area(options: {
    graphqlParts: GraphqlModule[]
    authorize: Authorize
    /** What entities store, in every area. */
    storedBy: readonly MeasureStorage[]
  }): Area & { owners: Owners }
}

export function createAccounts({ control, secretKey, auth, projects, log }: AccountsDeps): Accounts {
  const audit = createAudit({ control })
  const identity = createIdentity({ control })
  const keys = createKeys({ control, secretKey, identity, audit })
  const sessions = createSessions({ control, secretKey, identity, keys, audit })
  const users = createUsers({ control, identity, keys, sessions, audit })
  const teams = createTeams({ control, identity, keys, audit })
  const book = createLimitBook({ control })
  let measures: readonly MeasureStorage[] = []
  const storage = createStorageUse({ book, log, measures: () => measures })
  const limits = createUsageLimits({ book, storage, keys, audit })
  const isLocal = auth === 'local'
  const managing = [
    ...keysRoutes(keys),
    ...usersRoutes(users),
    ...teamsRoutes(teams),
    ...limitsRoutes(limits),
  ]
  const me = createMe({ identity, mode: auth, singleSignOn: false })
  return {
    audit,
    identity,
    keys,
    sessions,
    callerLimits: createCallerLimits({ book, storage }),
    limitBook: book,
    workLimits: createWorkLimits({ book }),
    authenticator: isLocal ? LOCAL_AUTHENTICATOR : createAccountsAuthenticator({ keys, sessions }),
    principals: createPrincipals({ auth, identity, keys, sessions }),
    area({ graphqlParts, authorize, storedBy }) {
      measures = storedBy
      return {
        owners: {},
        async start() {
          // Without accounts, nobody can set limits, and those from before do not hold.
          if (isLocal) return new AsyncDisposableStack()
          await book.load()
          return storage.start()
        },
        routes: [
          ...(isLocal ? managing.map(withoutAccounts) : managing),
          ...sessionsRoutes(sessions, me),
          ...auditRoutes(audit),
          ...graphqlRoutes(
            createGraphql([accountsModule({ projects, identity }), ...graphqlParts], authorize),
          ),
        ],
      }
    },
  }
}
