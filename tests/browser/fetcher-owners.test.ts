/** What `useFetcher` has read, and the next user of the tab. */
import type { Page } from 'playwright-core'
import { describe } from 'vitest'
import { heading, setVisible } from '../support/router-page.ts'
import { browserTest, openComment, otherTab, REFUSED, signIn, signOutElsewhere, visit } from '../support/typed-page.ts'

const peeked = (page: Page, text: string) => page.getByTestId('peeked').getByText(text, { exact: true }).waitFor()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function peekAs(page: Page, user: string): Promise<void> {
  await openComment(page, '/stored/comment', user)
  await visit(page, '/peek')
  await heading(page, 'Peek')
  await press(page, 'Peek')
  await peeked(page, user)
}

describe('a fetcher in a layout that stays forgets what it has read', () => {
  browserTest('when its tab signs out, and reads it for the next user', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    await press(page, 'Sign out')
    await peeked(page, 'idle, refused')
    await press(page, 'Sign in as bob')
    await peeked(page, 'bob')
  })

  browserTest('when another tab signs out, or signs in', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    const other = await signOutElsewhere(page, '/stored/comment')
    await peeked(page, 'idle, refused')
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    await peeked(page, 'bob')
  })

  browserTest('when it is not visible, too', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    await setVisible(page, false)
    const other = await signOutElsewhere(page, '/stored/comment')
    await peeked(page, 'idle, refused')
    await signIn(other, 'bob')
    await heading(other, 'Comment of bob')
    await peeked(page, 'bob')
    await setVisible(page, true)
    await peeked(page, 'bob')
  })

  browserTest('and only then: another tab of the same user changes nothing', async ({ open }) => {
    const page = await open(REFUSED)
    await peekAs(page, 'ann')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const other = await otherTab(page, '/stored/comment')
    await heading(other, 'Comment of ann')
    await press(other, 'Like')
    await other.getByTestId('likes').getByText('ann').waitFor()
    await peeked(page, 'ann')
    if (asked.some((url) => url.includes('/stored/comment'))) throw new Error(`asked ${asked.join(' ')}`)
  })
})
