/** A tool that the small model can call. */
export const WEATHER_TOOL = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

/** A message that makes it call the tool, with the city Paris. */
export const WEATHER_QUESTION = 'What is the weather in Paris?'
