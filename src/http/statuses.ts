/** The statuses of refused requests, in the words of the API description. */
export const REFUSALS = {
  400: 'The request asks for something that makes no sense',
  401: 'The key is missing or unknown',
  402: 'A budget is spent, or the storage of a team is full',
  403: 'A field or a name is not allowed, or the key has no right to it',
  404: 'What the request names does not exist',
  408: 'The body arrived too slowly',
  409: 'The request contradicts what is stored',
  413: 'The body or a list in it is over its limit, or what a query would read',
  415: 'The media type or encoding of the body is not read here',
  416: 'The range lies outside the file',
  422: 'The request does not have the declared shape',
  429: 'The caller is over a limit; Retry-After says when to try again',
  501: 'This server does not have this part of the wire',
  502: 'A service outside this server failed',
  503: 'Nothing was applied; the same request may succeed later',
} as const

export type RefusalStatus = keyof typeof REFUSALS
