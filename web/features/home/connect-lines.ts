/** Text that a person pastes to connect a client to this server. */
export interface Client {
  id: string
  name: string
  /** What the person sees once it runs. */
  shows: string
  blocks: readonly { label: string; code: string }[]
}

/** The lines for every kind of client, with the address of the server that this page came from, and a key. */
export function clientLines(origin: string, project: string, key: string): readonly Client[] {
  const [entity = 'local', name = 'my-project'] = project.split('/')
  return [
    {
      id: 'python',
      name: 'Weave, Python',
      shows: 'Each call of a decorated function appears in Traces as soon as it starts.',
      blocks: [
        {
          label: 'shell',
          code: `pip install weave\nexport WANDB_BASE_URL=${origin}\nexport WANDB_API_KEY=${key}`,
        },
        {
          label: 'Python',
          code: `import weave

weave.init("${project}")

@weave.op
def greet(name: str) -> str:
    return f"Hello {name}"

greet("world")`,
        },
      ],
    },
    {
      id: 'typescript',
      name: 'Weave, TypeScript',
      shows: 'Each call of a wrapped function appears in Traces.',
      blocks: [
        {
          label: 'shell',
          code: `npm install weave\nexport WANDB_BASE_URL=${origin}\nexport WF_TRACE_SERVER_URL=${origin}\nexport WANDB_API_KEY=${key}`,
        },
        {
          label: 'TypeScript',
          code: `import * as weave from 'weave'

await weave.init('${project}')
const greet = weave.op(async (name: string) => \`Hello \${name}\`, { name: 'greet' })
await greet('world')`,
        },
      ],
    },
    {
      id: 'otel',
      name: 'OpenTelemetry',
      shows: 'Every span is a call; GenAI and OpenInference conventions are understood.',
      blocks: [
        {
          label: 'shell',
          code: `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20${key},project_id=${encodeURIComponent(project)}"`,
        },
      ],
    },
    {
      id: 'openai',
      name: 'OpenAI clients',
      shows: 'Models of this server answer: the base model, and every checkpoint that is trained here.',
      blocks: [
        {
          label: 'shell',
          code: `export OPENAI_BASE_URL=${origin}/v1\nexport OPENAI_API_KEY=${key}`,
        },
        {
          label: 'Python',
          code: `from openai import OpenAI

reply = OpenAI().chat.completions.create(
    model="heddle/loom-tiny",
    messages=[{"role": "user", "content": "2 + 3 ="}],
    extra_headers={"OpenAI-Project": "${project}"},
)
print(reply.choices[0].message.content)`,
        },
      ],
    },
    {
      id: 'art',
      name: 'ART (training)',
      shows: 'Jobs, checkpoints and trajectories appear in Training.',
      blocks: [
        {
          label: 'Python',
          code: `import art
from art.serverless.backend import ServerlessBackend

backend = ServerlessBackend(base_url="${origin}/v1", api_key="${key}")
model = art.TrainableModel(
    name="my-model", entity="${entity}", project="${name}", base_model="heddle/loom-tiny"
)
await model.register(backend)`,
        },
      ],
    },
  ]
}
