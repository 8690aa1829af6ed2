import packageJson from '../package.json' with { type: 'json' }

/** This server's version; PEP 440, because Python clients parse it. */
export const VERSION: string = packageJson.version
