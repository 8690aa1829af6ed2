import { z } from 'zod'
import { type JsonText, parseKeeping } from '../../json/lossless-json.ts'
import { keepShapeOf } from '../../wire/body-shape.ts'
import { AnyJson } from '../../wire/json-text-wire.ts'
import { History } from './turns.ts'

/** A group whose parts that calls show keep the client's own text. */
const ShownGroup = z
  .object({
    trajectories: z.array(
      History.extend({
        additional_histories: z.array(History).nullish(),
        reward: AnyJson,
        metrics: AnyJson.nullish(),
        metadata: AnyJson.nullish(),
        initial_policy_version: AnyJson.nullish(),
        final_policy_version: AnyJson.nullish(),
        start_time: AnyJson.nullish(),
      }),
    ),
    exceptions: z.array(z.record(z.string(), AnyJson.nullish())).nullish(),
    metadata: AnyJson.nullish(),
    metrics: AnyJson.nullish(),
  })
  .catchall(AnyJson.nullish())
export type ShownGroup = z.output<typeof ShownGroup>
export type ShownTrajectory = ShownGroup['trajectories'][number]

const SHAPE = keepShapeOf(ShownGroup)

/** @param text one group as JSON, checked before */
export function parseShownGroup(text: string): ShownGroup {
  return ShownGroup.parse(parseKeeping(text, SHAPE))
}

/** Members of a trajectory or a group that are shown. */
export type Members = Record<string, JsonText | null | undefined>

/** Without empty members. Wire: clients send empty lists and objects for absent values. */
export function nonEmpty(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)))
}

function isEmpty(value: Members[string]): boolean {
  return value == null || /^[[{]\s*[\]}]$/.test(value.text)
}
