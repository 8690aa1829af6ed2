import { expect, it } from 'vitest'
import { type FeedbackItem, givenAgain, NOTE, REACTION } from './feedback.ts'

const note: FeedbackItem = {
  id: 'one',
  weave_ref: 'weave:///a/b/call/c',
  feedback_type: NOTE,
  creator: null,
  created_at: '2026-01-01T00:00:00.000Z',
  wb_user_id: 'ada',
  payload: { note: 'Good' },
}

it('gives own notes and reactions again as they were', () => {
  expect(givenAgain(note, 'ada')).toEqual({ id: expect.any(String), type: NOTE, payload: { note: 'Good' } })
  const reaction = { ...note, feedback_type: REACTION, payload: { emoji: '🎉' } }
  expect(givenAgain(reaction, 'ada')).toMatchObject({ type: REACTION, payload: { emoji: '🎉' } })
})

it.each([
  ['a score, which would lack its scorer', { ...note, feedback_type: 'wandb.runnable.exact' }],
  ['an annotation, which would lack its field', { ...note, feedback_type: 'wandb.annotation.tone' }],
  ['what another user wrote', { ...note, wb_user_id: 'grace' }],
  ['what was written in the name of another', { ...note, creator: 'grace' }],
])('does not give again %s', (_, item) => {
  expect(givenAgain(item, 'ada')).toBeUndefined()
})

it('gives nothing again before it is known who the person is', () => {
  expect(givenAgain({ ...note, wb_user_id: null }, undefined)).toBeUndefined()
})
