import { expect, it } from 'vitest'
import { pageOfLink } from './client-links.ts'

it.each([
  ['/local/demo', '/local/demo/traces'],
  ['/local/demo/weave', '/local/demo/traces'],
  ['/local/my%20demo/weave/calls/0197', '/local/my%20demo/calls/0197'],
  ['/local/demo/weave/ops/a%2Fb/versions/Xy', '/local/demo/objects/a%2Fb/versions/Xy'],
  ['/local/demo/weave/objects/set/versions/Xy', '/local/demo/objects/set/versions/Xy'],
  ['/local/demo/weave/leaderboards/best', '/local/demo/leaderboards/best'],
  ['/local/demo/runs/r1', '/local/demo/training?run=r1'],
  ['/local/demo/weave/prompts', '/local/demo/library?kind=prompts'],
  ['/local/demo/weave/ops', '/local/demo/library?kind=ops'],
  ['/local/demo/weave/objects/my%20set', '/local/demo/objects/my%20set/versions/latest'],
  ['/local/demo/weave/objects/set/versions', '/local/demo/objects/set/versions/latest'],
  ['/local/demo/objects/set', '/local/demo/objects/set/versions/latest'],
  ['/local/demo/weave/threads/t1', '/local/demo/threads?thread=t1'],
  ['/local/demo/weave/threads/12345', '/local/demo/threads?thread=%2212345%22'],
  ['/local/demo/weave/threads/a%20b%zz', '/local/demo/threads?thread=a%2520b%25zz'],
  ['/local/demo/runs/1e5', '/local/demo/training?run=%221e5%22'],
  ['/local/demo/weave/playground', '/local/demo/playground'],
  ['/local/demo/nothing', undefined],
  ['/local/demo/weave/calls/a/b', undefined],
])('%s → %s', (link, page) => expect(pageOfLink(link)).toBe(page))

it('links to a comparison keep the evaluations', () => {
  const ids = encodeURIComponent('["a","b"]')
  expect(pageOfLink('/local/demo/weave/compare-evaluations', `?evaluationCallIds=${ids}&x=1`)).toBe(
    `/local/demo/compare?runs=${ids}`,
  )
})
