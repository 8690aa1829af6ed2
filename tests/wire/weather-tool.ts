/** A tool that the small model knows how to call. */
export const WEATHER_TOOL = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

/** What makes it do so, with the city Paris. */
export const WEATHER_QUESTION = 'What is the weather in Paris?'
