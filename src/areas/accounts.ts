import { auditRoutes } from '../accounts/audit/routes.ts'
import { type Audit, createAudit } from '../accounts/audit/service.ts'
import { createAccountsAuthenticator } from '../accounts/callers/authenticator.ts'
import { createPrincipals, type Principals } from '../accounts/callers/principals.ts'
import { accountsModule } from '../accounts/graphql/accounts-module.ts'
import { emptyListsModule } from '../accounts/graphql/empty-lists.ts'
import type { GraphqlModule } from '../accounts/graphql/graphql-module.ts'
import { graphqlRoutes } from '../accounts/graphql/routes.ts'
import { createGraphql } from '../accounts/graphql/service.ts'
import { createIdentity, type Identity } from '../accounts/identity/service.ts'
import { createAccessTokens } from '../accounts/identity-providers/access-tokens.ts'
import { createIssuerKeys } from '../accounts/identity-providers/issuer-keys.ts'
import { identityProvidersRoutes } from '../accounts/identity-providers/routes.ts'
import { createIdentityProviders } from '../accounts/identity-providers/service.ts'
import { createTokenExchange } from '../accounts/identity-providers/token-exchange.ts'
import { keysRoutes } from '../accounts/keys/routes.ts'
import { createKeys, type Keys } from '../accounts/keys/service.ts'
import { createCallerLimits } from '../accounts/limits/caller-limits.ts'
import { createLimitBook, type LimitBook } from '../accounts/limits/limit-book.ts'
import { limitsRoutes } from '../accounts/limits/routes.ts'
import { createUsageLimits } from '../accounts/limits/service.ts'
import { createStorageUse, type MeasureStorage } from '../accounts/limits/storage-use.ts'
import { createWorkLimits, type WorkLimits } from '../accounts/limits/work-limits.ts'
import { needingAccounts } from '../accounts/needing-accounts.ts'
import { oidcRoutes } from '../accounts/oidc/routes.ts'
import { createOidc } from '../accounts/oidc/service.ts'
import type { Projects } from '../accounts/projects.ts'
import { createAccountsRemoval } from '../accounts/removal/removal.ts'
import { type AuthMode, createMe } from '../accounts/sessions/me.ts'
import { meRoutes, sessionsRoutes } from '../accounts/sessions/routes.ts'
import { createSessions, type Sessions } from '../accounts/sessions/service.ts'
import { teamsRoutes } from '../accounts/teams/routes.ts'
import { createTeams } from '../accounts/teams/service.ts'
import { usersRoutes } from '../accounts/users/routes.ts'
import { createUsers, type Users } from '../accounts/users/service.ts'
import type { Limits } from '../config.ts'
import type { Authorize } from '../http/access.ts'
import { type Authenticator, LOCAL_AUTHENTICATOR } from '../http/auth.ts'
import type { CallerLimits } from '../http/caller-limits.ts'
import type { Log } from '../log.ts'
import { createOutbound } from '../outbound-http.ts'
import { reloading } from '../reloading.ts'
import type { Removal } from '../removal.ts'
import type { PublicAddress } from '../settings/public-address.ts'
import { grantedTeams, type SingleSignOn } from '../settings/single-sign-on.ts'
import type { SharedUse } from '../shared-use.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { SecretKey } from '../stores/secret-key.ts'
import type { Area } from './area.ts'

export interface AccountsDeps {
  control: ControlDb
  peers: Peers
  sharedUse: SharedUse
  secretKey: SecretKey
  auth: AuthMode
  /** The provider through which people may sign in. */
  singleSignOn: SingleSignOn | undefined
  /** Hosts of issuers of identity tokens that need not be public. */
  identityHosts: readonly string[]
  publicAddress: PublicAddress
  /** What one key may use of completions. */
  inference: { keyLimits: Limits }
  projects: Projects
  log: Log
}

/** Who callers are and what they may do; other areas use it, so it is created before them. */
export interface Accounts {
  audit: Audit
  authenticator: Authenticator
  identity: Identity
  callerLimits: CallerLimits
  /** Of keys and entities, for parts with limits of their own. */
  limitBook: Pick<LimitBook, 'of'>
  workLimits: WorkLimits
  principals: Principals
  sessions: Sessions
  keys: Pick<Keys, 'forget' | 'home'>
  users: Pick<Users, 'close'>
  removals: Removal[]
  /** Its endpoints, and the W&B API, to which other areas add their parts. */
  area(options: {
    graphqlParts: GraphqlModule[]
    authorize: Authorize
    /** What entities store, in every area. */
    storedBy: readonly MeasureStorage[]
  }): Area
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const { control, peers, sharedUse, secretKey, auth, projects, singleSignOn, log } = deps
  const audit = createAudit({ control })
  const identity = createIdentity({ control })
  const keys = createKeys({ control, peers, secretKey, identity, audit })
  const sessions = createSessions({ control, peers, secretKey, identity, keys, audit })
  const users = createUsers({ ...deps, identity, keys, sessions, audit })
  const teams = createTeams({ control, identity, keys, audit, reservedNames: grantedTeams(singleSignOn) })
  const accessTokens = createAccessTokens({ control, secretKey, identity })
  const outbound = createOutbound({ allowedHosts: deps.identityHosts, setting: 'HEDDLE_IDENTITY_HOSTS' })
  const own = { ...deps, identity, keys, sessions, accessTokens, audit }
  const machines = { ...own, issuerKeys: createIssuerKeys({ outbound }) }
  const book = createLimitBook({ control, keyLimits: deps.inference.keyLimits })
  let measures: readonly MeasureStorage[] = []
  const storage = createStorageUse({ book, sharedUse, log, measures: () => measures })
  const limits = createUsageLimits({ book, storage, keys, identity, audit })
  const isLocal = auth === 'local'
  const me = createMe({ ...own, mode: auth, singleSignOn: singleSignOn !== undefined })
  const managing = [
    ...keysRoutes(keys),
    ...usersRoutes(users),
    ...meRoutes(me),
    ...teamsRoutes(teams),
    ...limitsRoutes(limits),
    ...identityProvidersRoutes(createIdentityProviders(machines), createTokenExchange(machines)),
    ...oidcRoutes(createOidc({ ...own, settings: singleSignOn })),
  ]
  return {
    audit,
    identity,
    sessions,
    keys,
    users,
    callerLimits: createCallerLimits({ book, storage, sharedUse }),
    limitBook: book,
    workLimits: createWorkLimits({ book }),
    removals: [createAccountsRemoval({ control, identity, keys, limits: book })],
    authenticator: isLocal ? LOCAL_AUTHENTICATOR : createAccountsAuthenticator(own),
    principals: createPrincipals(own),
    area({ graphqlParts, authorize, storedBy }) {
      measures = storedBy
      return {
        async start() {
          await using starting = new AsyncDisposableStack()
          starting.use(outbound)
          // Without accounts, nobody can set limits, and those from before do not hold.
          if (!isLocal) {
            const measuring = starting.use(reloading('sizes of storage', storage.limitsRead, { log }))
            const readLimits = async (): Promise<void> => {
              await book.load()
              measuring.ask()
            }
            const reload = starting.use(reloading('limits', readLimits, { log }))
            peers.onChange(['usage_limits'], reload.ask)
            await book.load()
            starting.use(storage.start())
          }
          return starting.move()
        },
        routes: [
          ...needingAccounts(managing, auth),
          ...sessionsRoutes(sessions, me),
          ...auditRoutes(audit),
          ...graphqlRoutes(
            createGraphql(
              [
                accountsModule({ projects, identity, publicAddress: deps.publicAddress }),
                emptyListsModule,
                ...graphqlParts,
              ],
              authorize,
            ),
          ),
        ],
      }
    },
  }
}
