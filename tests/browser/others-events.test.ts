/** Event streams of pages whose user is not signed in any more, which their tab does not know: browsers connect again. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { heading, setVisible } from '../support/router-page.ts'
import { browserTest, openComment, REFUSED, visit } from '../support/typed-page.ts'
import { openWithoutScripts, take } from '../support/silent-sign-in.ts'

const heard = (page: Page) => page.evaluate(() => sessionStorage.getItem('heard') ?? '')

const markDocument = (page: Page) =>
  page.evaluate(() => document.body.append(Object.assign(document.createElement('p'), { id: 'same' })))

/** As when a laptop is opened again. */
async function listenAgain(page: Page): Promise<void> {
  await setVisible(page, false)
  await page.getByTestId('stream').getByText('closed').waitFor()
  await setVisible(page, true)
}

describe.for(['stored', 'named'])('the stream of a session that is %s', (kind) => {
  browserTest('tells a page nothing of the next user, and the page becomes theirs', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, `/${kind}/comment`, 'ann')
    await visit(page, `/${kind}/mail/own`)
    await expect.poll(() => heard(page)).toContain('ann heard ann')
    await take(await openWithoutScripts(open, 'bob', kind), page)
    await listenAgain(page)
    await heading(page, 'Mail of bob')
    await expect.poll(() => heard(page)).toContain('bob heard bob')
    expect(await heard(page)).not.toContain('ann heard bob')
  })

  browserTest('goes on where the same user has signed in again', async ({ open }) => {
    const page = await open(REFUSED)
    await openComment(page, `/${kind}/comment`, 'ann')
    await visit(page, `/${kind}/mail/own`)
    await markDocument(page)
    await take(await openWithoutScripts(open, 'ann', kind), page)
    await expect.poll(() => heard(page)).toContain('ann heard ann')
    await page.evaluate(() => sessionStorage.removeItem('heard'))
    await listenAgain(page)
    await expect.poll(() => heard(page)).toContain('ann heard ann')
    expect(await page.locator('#same').count()).toBe(1)
  })

  browserTest('of a page that opens no session is heard by it, with one connection', async ({ open }) => {
    const page = await open(REFUSED)
    const streams: string[] = []
    await openComment(page, `/${kind}/comment`, 'ann')
    page.on('request', (request) => void (request.resourceType() === 'eventsource' && streams.push(request.url())))
    await visit(page, `/${kind}/mail/public`)
    await expect.poll(() => heard(page)).toContain('nobody heard ann. nobody heard ann. nobody heard ann')
    expect(streams).toHaveLength(1)
    await markDocument(page)
    await take(await openWithoutScripts(open, 'bob', kind), page)
    await page.evaluate(() => sessionStorage.removeItem('heard'))
    await listenAgain(page)
    await expect.poll(() => heard(page)).toContain('nobody heard bob')
    expect(await page.locator('#same').count()).toBe(0)
  })
})
