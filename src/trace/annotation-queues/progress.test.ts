import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { type Item, useQueues } from './test-queues.ts'

const server = useTestServer()
const { newQueue, items, progress, filledQueue, passTime } = useQueues(server)

describe('POST /annotation_queues/{queue_id}/items/{item_id}/progress', () => {
  it('200 from unstarted to each state, with annotator and time; the statistics follow', async () => {
    const { project, queue, all } = await filledQueue(4)
    const states = ['in_progress', 'completed', 'skipped']
    for (const [index, state] of states.entries()) {
      const item = all[index]
      const reply = await progress(project, { queue, item: String(item?.id) }, state)
      const { item: changed } = await replyOf<{ item: Item }>(reply)
      const expected = { annotation_state: state, annotator_user_id: 'local', updated_at: expect.any(String) }
      expect(changed).toEqual({ ...item, ...expected })
      expect(changed['updated_at']).not.toBe(item?.['updated_at'])
      expect(await items(project, queue, { filter: { id: String(item?.id) } })).toEqual([changed])
    }
    const stats = await server.post('/annotation_queues/stats', { project_id: project, queue_ids: [queue] })
    expect(await replyOf(stats)).toEqual({
      stats: [{ queue_id: queue, total_items: 4, completed_items: 2 }],
    })
  })

  it('200 without a change for the same state again', async () => {
    const { project, queue, all } = await filledQueue(1)
    const item = String(all[0]?.id)
    for (const state of ['in_progress', 'completed']) {
      const once = await replyOf(await progress(project, { queue, item }, state))
      expect(await replyOf(await progress(project, { queue, item }, state))).toEqual(once)
    }
  })

  it('200 with more time for the annotator who has the item', async () => {
    const { project, queue, all } = await filledQueue(1)
    const item = String(all[0]?.id)
    const until = async () => {
      await progress(project, { queue, item }, 'in_progress')
      const refused = await progress(project, { queue, item, key: 'theirs' }, 'in_progress')
      return ((await refused.json()) as { claimed_until: string }).claimed_until
    }
    const first = await until()
    expect(Date.parse(first) - Date.now()).toBeGreaterThan(29 * 60_000)
    expect((await until()) > first).toBe(true)
  })

  it('400 for any change of what an annotator has finished, and for invalid states', async () => {
    const { project, queue, all } = await filledQueue(1)
    const item = String(all[0]?.id)
    for (const state of ['unstarted', 'done', ''])
      expect((await progress(project, { queue, item }, state)).status, state).toBe(400)
    await progress(project, { queue, item }, 'completed')
    for (const state of ['in_progress', 'skipped', 'unstarted'])
      expect((await progress(project, { queue, item }, state)).status, state).toBe(400)
    expect(await items(project, queue)).toMatchObject([{ annotation_state: 'completed' }])
  })

  it('one 200 and otherwise 409 with who and until when, for people who take one item at once', async () => {
    const { project, queue, all } = await filledQueue(1)
    const item = String(all[0]?.id)
    const keys = ['mine', 'theirs', 'mine', 'theirs'] as const
    const replies = await Promise.all(
      keys.map((key) => progress(project, { queue, item, key }, 'in_progress')),
    )
    const statuses = replies.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 200, 409, 409])
    expect(statuses[0]).toBe(statuses[2])
    const refused = replies.find(({ status }) => status === 409)
    expect(await refused?.json()).toEqual({
      reason: expect.stringMatching(/in progress by local, until 20.*Z/),
      claimed_by: 'local',
      claimed_until: expect.stringMatching(/^20.*Z$/),
    })
    const [holder, other] =
      statuses[0] === 200 ? (['mine', 'theirs'] as const) : (['theirs', 'mine'] as const)
    for (const state of ['in_progress', 'completed', 'skipped'])
      expect((await progress(project, { queue, item, key: other }, state)).status).toBe(409)
    expect((await progress(project, { queue, item, key: holder }, 'skipped')).status).toBe(200)
    expect(await items(project, queue)).toMatchObject([{ annotation_state: 'skipped' }])
  })

  it('200 for another annotator once the time of a claim is over; the item is unstarted in between', async () => {
    const { project, queue, all } = await filledQueue(2)
    const item = String(all[0]?.id)
    await progress(project, { queue, item }, 'in_progress')
    const unstarted = { filter: { annotation_states: ['unstarted'] } }
    expect((await items(project, queue, unstarted)).map(({ id }) => id)).toEqual([all[1]?.id])
    await passTime(queue)
    expect(await items(project, queue, unstarted)).toMatchObject([{ id: item, annotator_user_id: null }, {}])
    expect((await progress(project, { queue, item, key: 'theirs' }, 'in_progress')).status).toBe(200)
    expect((await progress(project, { queue, item }, 'completed')).status).toBe(409)
    expect((await progress(project, { queue, item, key: 'theirs' }, 'completed')).status).toBe(200)
  })

  it('200 with one result for the same state from many at once', async () => {
    const { project, queue, all } = await filledQueue(1)
    const item = String(all[0]?.id)
    const replies = await Promise.all(
      ['completed', 'skipped', 'completed', 'skipped'].map((state) =>
        progress(project, { queue, item }, state),
      ),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 400, 400])
  })

  it('404 for an item that is unknown, of another queue or of another project', async () => {
    const { project, queue, all } = await filledQueue(1)
    const item = String(all[0]?.id)
    expect((await progress(project, { queue, item: newId() }, 'skipped')).status).toBe(404)
    expect((await progress(project, { queue: await newQueue(project), item }, 'skipped')).status).toBe(404)
    expect((await progress(project, { queue: newId(), item }, 'skipped')).status).toBe(404)
    expect((await progress(server.newProject(), { queue, item }, 'skipped')).status).toBe(404)
  })

  it.each([1, null, undefined])('422 for the state %s', async (state) => {
    const { project, queue, all } = await filledQueue(1)
    expect((await progress(project, { queue, item: String(all[0]?.id) }, state)).status).toBe(422)
  })
})
