import type { TestServer } from '../../testing.ts'
import type { TestClient } from '../test-client.ts'

/** Requests of a W&B client for a run, for tests. */
export function createRunClient(server: TestServer, client: TestClient) {
  function start(project: string, name: string, input: Record<string, unknown> = {}) {
    return client.mutate('upsertBucket', 'inserted bucket { id name displayName state historyLineCount }', {
      entityName: 'test',
      modelName: project.slice(5),
      name,
      ...input,
    })
  }

  function stream(project: string, run: string, body: object): Promise<Response> {
    return server.post(`/files/${project}/${run}/file_stream`, body)
  }

  function history(offset: number, lines: object[]) {
    return {
      files: { 'wandb-history.jsonl': { offset, content: lines.map((line) => JSON.stringify(line)) } },
    }
  }

  async function runOf(project: string, name: string, fields: string) {
    const { data, errors } = await client.ask(
      `query { project(name: "${project.slice(5)}", entityName: "test") { run(name: "${name}") { ${fields} } } }`,
    )
    if (errors !== undefined) throw new Error(errors[0].message)
    return data.project.run
  }

  return { start, stream, history, runOf }
}
