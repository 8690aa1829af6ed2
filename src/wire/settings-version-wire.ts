import { z } from 'zod'

/** Of a request that replaces settings as a whole. */
export const IfVersion = z.strictObject({
  if_version: z.string().nullish().meta({
    description:
      'The version that the settings were read with: where they have another by now, they stay as they are, and the answer is 409',
  }),
})
export type IfVersion = z.output<typeof IfVersion>

/** Of a reply with settings. */
export const SettingsVersion = z
  .string()
  .meta({ description: 'Changes with the settings; a change may name it as if_version' })
