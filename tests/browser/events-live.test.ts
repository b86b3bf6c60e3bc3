/** What pages with `useEvents` show of what is dropped on the server, and by how many requests. */
import { untilAlive } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { liveTest as browserTest } from '../support/router-app.ts'
import { clickLink, heading, hold, recordData, setVisible } from '../support/router-page.ts'

const RECONNECT_MS = 15_000 // browsers wait up to five seconds

/** One that no other test has posted to, nor this one before. */
const someBoard = (): string => `some-${crypto.randomUUID()}`

const postsOf = (page: Page) => page.getByTestId('posts').textContent()
const hellosOf = (page: Page) => page.getByTestId('hellos').textContent()

/** Opens a board, whose stream is open then. */
async function openBoard(page: Page, path: string): Promise<string[]> {
  const asked = recordData(page)
  await page.goto(`/boards/${path}`)
  await untilAlive(page)
  await expect.poll(() => hellosOf(page)).toBe('1')
  return asked
}

/** Another visitor's posts: one for each `+`; `!` ends the streams before. */
async function post(page: Page, board: string, what = '+'): Promise<void> {
  const { origin } = new URL(page.url())
  const { status } = await fetch(`${origin}/posts/${board}`, { method: 'POST', body: what })
  expect(status).toBe(204)
}

describe.for(['usual', '0', 'no-store'])('a page whose data has the lifetime %s', (lifetime) => {
  browserTest('shows what others change, by one request, and keeps what was typed', async ({ open }) => {
    const page = await open()
    const board = someBoard()
    const asked = await openBoard(page, `${board}/${lifetime}`)
    await page.getByLabel('Draft').pressSequentially('half a sen')
    await post(page, board)
    await expect.poll(() => postsOf(page)).toBe('1')
    await page.getByLabel('Draft').pressSequentially('tence')
    expect(await page.getByLabel('Draft').inputValue()).toBe('half a sentence')
    expect(asked).toEqual([`/boards/${board}/${lifetime}`])
  })

  browserTest(
    'that was hidden catches up when it is shown, by one request, and by none without a change',
    async ({ open }) => {
      const page = await open()
      const board = someBoard()
      const asked = await openBoard(page, `${board}/${lifetime}`)
      await setVisible(page, false)
      await setVisible(page, true)
      await expect.poll(() => hellosOf(page)).toBe('2')
      await setVisible(page, false)
      await post(page, board, '++')
      await setVisible(page, true)
      await expect.poll(() => postsOf(page)).toBe('2')
      expect(asked).toHaveLength(1)
    },
  )

  browserTest('shows what was changed between two streams', async ({ open }) => {
    const page = await open()
    const board = someBoard()
    const asked = await openBoard(page, `${board}/${lifetime}`)
    await post(page, board, '!+')
    await expect.poll(() => postsOf(page), { timeout: RECONNECT_MS }).toBe('1')
    expect(asked).toHaveLength(1)
  })

  browserTest('shows what was changed before its stream was open', async ({ open }) => {
    const page = await open()
    const board = someBoard()
    const events = await hold(page, /\/events\//)
    const asked = recordData(page)
    await page.goto(`/boards/${board}/${lifetime}`)
    await events.asked
    await post(page, board)
    events.release()
    await expect.poll(() => postsOf(page)).toBe('1')
    expect(asked).toHaveLength(1)
  })

  browserTest('takes what its own action changes from the answer, and another tab asks once', async ({ open }) => {
    const page = await open()
    const other = await page.context().newPage()
    const board = someBoard()
    const asked = await openBoard(page, `${board}/${lifetime}`)
    const askedByOther = await openBoard(other, `${board}/${lifetime}`)
    await page.getByRole('button', { name: 'Post' }).click()
    await expect.poll(() => postsOf(page)).toBe('1')
    await expect.poll(() => postsOf(other)).toBe('1')
    // The next drop is told after all that may have followed from this one.
    await post(page, board)
    await expect.poll(() => postsOf(page)).toBe('2')
    await expect.poll(() => postsOf(other)).toBe('2')
    const calls = asked.filter((path) => path.includes('_action'))
    expect([calls.length, asked.length - calls.length, askedByOther.length]).toEqual([1, 1, 2])
  })
})

browserTest('many drops at once are two requests at most', async ({ open }) => {
  const page = await open()
  const board = someBoard()
  const asked = await openBoard(page, `${board}/usual`)
  await post(page, board, '+'.repeat(24))
  await expect.poll(() => postsOf(page)).toBe('24')
  expect(asked.length).toBeLessThanOrEqual(2)
})

browserTest('a page that does not exist is shown once it does', async ({ open }) => {
  const page = await open({ allow: [/404/] })
  const board = crypto.randomUUID()
  await openBoard(page, `${board}/usual`)
  await heading(page, 'No such board')
  await post(page, board)
  await heading(page, board)
  expect(await postsOf(page)).toBe('1')
})

browserTest('a page that was left meanwhile is asked for again when it is gone back to', async ({ open }) => {
  const page = await open()
  const board = someBoard()
  const asked = await openBoard(page, `${board}/usual`)
  await clickLink(page, 'Home')
  await heading(page, 'Home')
  await post(page, board)
  await page.goBack()
  await expect.poll(() => postsOf(page)).toBe('1')
  expect(asked).toEqual([`/boards/${board}/usual`])
})

browserTest('a stream is opened anew when its tab, or another one, signs in or out', async ({ open }) => {
  const page = await open()
  const other = await page.context().newPage()
  for (const one of [page, other]) await openBoard(one, `${someBoard()}/usual`)
  await page.getByRole('button', { name: 'Come or go' }).click()
  for (const one of [page, other]) await expect.poll(() => hellosOf(one)).toBe('2')
  await page.getByRole('button', { name: 'Come or go' }).click()
  // Components start again for nobody, and what they count.
  for (const one of [page, other]) await expect.poll(() => hellosOf(one)).toBe('1')
  await page.getByRole('button', { name: 'Post' }).click()
  await expect.poll(() => postsOf(page)).toBe('1')
  expect(await hellosOf(page)).toBe('1')
})
