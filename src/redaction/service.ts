import type { Audit, Audited } from '../accounts/audit/service.ts'
import type { Projects } from '../accounts/projects.ts'
import { invalidRequest } from '../errors.ts'
import type { CallContext } from '../http/caller.ts'
import { JsonText } from '../json/lossless-json.ts'
import type { Log } from '../log.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { SecretKey } from '../stores/secret-key.ts'
import { nowIso } from '../time.ts'
import { checkVersion, versionOf } from '../wire/settings-version.ts'
import { createHitCounts, type HitCounts } from './hit-counts.ts'
import { createKnownRules, rulesIn } from './known-rules.ts'
import * as queries from './queries.ts'
import type { Redactable, Redacted } from './redaction-job.ts'
import { checkedRules, type ReadyRules, runRedaction } from './run-redaction.ts'
import type * as wire from './wire.ts'

/** Redacts what is sent to one project, before it is stored. */
export interface Redactor {
  /**
   * The texts as they may be stored, in order; one that no rule touches stays as it is.
   * @throws 400 for JSON that is nested too deep, 413 for what takes too long, 503 without a thread; then nothing may
   * be stored.
   */
  redact(values: readonly Redactable[]): Promise<string[]>
}

/**
 * Rules of projects for what is removed from data before it is stored. What was stored before a rule is not changed.
 */
export interface Redaction extends Pick<HitCounts, 'totals' | 'start'> {
  /** Undefined for a project without rules. */
  of(projectId: string): Promise<Redactor | undefined>
  /** Reads the rules of a project again, once others are stored, or none. */
  forget(projectId: string): void
  read(req: wire.ProjectPath): Promise<wire.RedactionRes>
  /**
   * Sets all rules; they hold for every request that comes later.
   * @throws 400 that names the rule at fault, 409 for another version.
   */
  put(req: wire.RedactionPutReq & wire.ProjectPath, context: CallContext): Promise<wire.RedactionRes>
  /** Applies rules to a sample; nothing is stored or counted. @throws as `put` and `Redactor.redact` */
  test(req: wire.RedactionTestReq & wire.ProjectPath): Promise<wire.RedactionTestRes>
}

export interface RedactionDeps {
  control: ControlDb
  peers: Peers
  secretKey: SecretKey
  projects: Projects
  audit: Pick<Audit, 'record'>
  log: Log
}

export function createRedaction(deps: RedactionDeps): Redaction {
  const { control, secretKey, projects, audit } = deps
  const counts = createHitCounts(deps)
  const known = createKnownRules(deps)
  /** Threads that hash get a secret of their own, which does not tell that of the server. */
  const secret = secretKey.hash('redaction', 'hashes of values')

  async function of(projectId: string): Promise<Redactor | undefined> {
    const { ready } = await known.of(projectId)
    if (ready === undefined) return undefined
    return {
      async redact(values) {
        const { texts, hits } = await run(projectId, ready, values)
        counts.record(projectId, ready.rules, hits)
        return texts
      },
    }
  }

  async function run(projectId: string, ready: ReadyRules, values: readonly Redactable[]): Promise<Redacted> {
    return runRedaction(ready, { key: { secret, projectId }, values })
  }

  async function read(path: wire.ProjectPath): Promise<wire.RedactionRes> {
    const projectId = projectIdOf(path)
    await counts.flush()
    const row = await queries.findRules(control, projectId)
    const hits = await queries.listHits(control, projectId)
    const rules = rulesIn(row)
    const hitsOf = new Map(hits.map(({ rule, hits }) => [rule, hits]))
    return {
      rules,
      hits: rules.map(({ name }) => ({ rule: name, hits: hitsOf.get(name) ?? 0 })),
      updated_at: row?.updated_at ?? null,
      version: versionOf(storedIn(row)),
    }
  }

  async function put(
    { rules, if_version, ...path }: wire.RedactionPutReq & wire.ProjectPath,
    { caller }: CallContext,
  ) {
    const project_id = projectIdOf(path)
    await checkedRules(rules, project_id)
    await projects.ensureById(project_id)
    await counts.flush()
    const row = { project_id, rules: JSON.stringify(rules), updated_at: nowIso() }
    const names = rules.map(({ name }) => name)
    await control.transaction().execute(async (tx) => {
      checkVersion('The rules', storedIn(await queries.findRules(tx, project_id)), { if_version })
      await queries.putRules(tx, row, names)
      const event: Audited = {
        action: 'redaction.change',
        entity: path.entity,
        subject: project_id,
        details: { names },
      }
      await audit.record(caller, event, tx)
    })
    known.forget(project_id)
    return read(path)
  }

  async function test(req: wire.RedactionTestReq & wire.ProjectPath): Promise<wire.RedactionTestRes> {
    const projectId = projectIdOf(req)
    const { text, json, document } = req
    if ((text == null) === (json == null)) throw invalidRequest('A sample is either text or json')
    const ready =
      req.rules == null ? (await known.of(projectId)).ready : await checkedRules(req.rules, projectId)
    const sample: Redactable =
      json == null ? { form: 'text', text: text ?? '' } : { form: 'json', text: json.text, document }
    const { texts, hits } =
      ready === undefined ? { texts: [sample.text], hits: [] } : await run(projectId, ready, [sample])
    const redacted = texts[0] ?? ''
    return {
      text: json == null ? redacted : null,
      json: json == null ? null : new JsonText(redacted),
      hits: (ready?.rules ?? []).map(({ name }, index) => ({ rule: name, hits: hits[index] ?? 0 })),
    }
  }

  function forget(projectId: string): void {
    known.forget(projectId)
    counts.forget(projectId)
  }

  return { of, forget, read, put, test, totals: counts.totals, start: counts.start }
}

/** What is stored of the rules, as text. */
function storedIn(row: { rules: string } | undefined): string {
  return row?.rules ?? '[]'
}

function projectIdOf({ entity, project }: wire.ProjectPath): string {
  return `${entity}/${project}`
}
