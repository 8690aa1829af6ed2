import { expect, it } from 'vitest'
import { pageOfLink } from './client-links.ts'

it.each([
  ['/local/demo', '/local/demo/traces'],
  ['/local/demo/weave', '/local/demo/traces'],
  ['/local/my%20demo/r/call/0197', '/local/my%20demo/calls/0197'],
  ['/local/demo/weave/calls/0197', '/local/demo/calls/0197'],
  ['/local/demo/weave/ops/a%2Fb/versions/Xy', '/local/demo/objects/a%2Fb/versions/Xy'],
  ['/local/demo/weave/objects/set/versions/Xy', '/local/demo/objects/set/versions/Xy'],
  ['/local/demo/weave/leaderboards/best', '/local/demo/evaluations?leaderboard=best'],
  ['/local/demo/runs/r1', '/local/demo/training?run=r1'],
  ['/local/demo/nothing', undefined],
  ['/local/demo/weave/calls/a/b', undefined],
])('%s → %s', (link, page) => expect(pageOfLink(link)).toBe(page))
