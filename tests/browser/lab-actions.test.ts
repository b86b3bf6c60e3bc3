import { createHash, randomUUID } from 'node:crypto'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { browserTest, JAVASCRIPT } from '../support/browser.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { recordData } from '../support/router-page.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const untilHydrated = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => Object.keys(document).some((key) => key.startsWith('__reactContainer')))

async function visit(page: Page, path: string, javaScript: boolean): Promise<void> {
  await page.goto(path)
  if (javaScript) await untilHydrated(page)
}

async function sign(page: Page, name: string, message: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Message').fill(message)
  await page.getByRole('button', { name: 'Sign the guestbook' }).click()
}

/** Holds the calls of actions back until the returned function is called. */
async function holdCalls(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await page.route(
    (url) => url.searchParams.has('_action'),
    async (route) => {
      await promise
      await route.continue()
    },
  )
  return () => resolve(undefined)
}

browserTest('an entry of the guestbook is one call in its own tab, and one request in another', async ({ open }) => {
  const page = await open()
  const other = await page.context().newPage()
  // Its cookie is set now.
  await visit(page, '/lab/guestbook', true)
  await sign(page, 'Ada', randomUUID())
  await page.getByText('Thank you, Ada.').waitFor()
  const asked = recordData(page)
  const askedByOther = recordData(other)
  for (const tab of [page, other]) {
    const streams = tab.waitForResponse(/\/lab\/guestbook\/events/)
    await visit(tab, '/lab/guestbook', true)
    await streams
  }
  const first = `first ${randomUUID()}`
  const second = `second ${randomUUID()}`
  await sign(page, 'Ada', first)
  await other.getByText(first).waitFor()
  await sign(page, 'Ada', second)
  await other.getByText(second).waitFor()
  await page.getByText(second).waitFor()
  const data = (paths: readonly string[]): string[] => paths.filter((path) => path.startsWith('/lab/guestbook'))
  expect(data(asked).map((path) => path.includes('_action'))).toEqual([true, true])
  expect(data(askedByOther)).toHaveLength(2)
})

describe.for(JAVASCRIPT)('the guestbook, JavaScript $name', ({ javaScript }) => {
  browserTest('shows a new entry first, says thanks, and empties the form', async ({ open }) => {
    const page = await open({ javaScript })
    await visit(page, '/lab/guestbook', javaScript)
    const message = `signed ${randomUUID()}`
    await sign(page, 'Ada', message)
    await page.getByText('Thank you, Ada.').waitFor()
    expect(await page.getByTestId('entries').locator('li').first().innerText()).toContain(message)
    expect(await page.getByLabel('Name').inputValue()).toBe('')
    expect(await page.getByLabel('Message').inputValue()).toBe('')
  })

  browserTest('says what is wrong, keeps what was typed, and goes to the first wrong field', async ({ open }) => {
    const page = await open({ javaScript, allow: [statusComplaint(422)] })
    await visit(page, '/lab/guestbook', javaScript)
    await sign(page, '', 'y'.repeat(281))
    await page.getByTestId('error-name').waitFor()
    expect(await page.getByTestId('error-name').innerText()).toBe('Please give a name.')
    expect(await page.getByTestId('error-message').innerText()).toContain('this one has 281')
    expect(await page.getByLabel('Message').inputValue()).toBe('y'.repeat(281))
    expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('name')
    await sign(page, 'Grace', 'short enough')
    await page.getByText('Thank you, Grace.').waitFor()
    expect(await page.getByTestId('error-name').count()).toBe(0)
  })

  browserTest("deletes one's own entry, and offers that to nobody else", async ({ open }) => {
    const [author, stranger] = [await open({ javaScript }), await open({ javaScript })]
    await visit(author, '/lab/guestbook', javaScript)
    const message = `to be deleted ${randomUUID()}`
    await sign(author, 'Author', message)
    const entry = (page: Page) => page.getByTestId('entries').locator('li').filter({ hasText: message })
    await author.getByText('Thank you, Author.').waitFor()
    await visit(stranger, '/lab/guestbook', javaScript)
    expect(await entry(stranger).getByTestId('remove').count()).toBe(0)
    await entry(author).getByTestId('remove').click()
    await entry(author).waitFor({ state: 'detached' })
    await stranger.reload()
    expect(await entry(stranger).count()).toBe(0)
  })
})

describe('the guestbook with JavaScript', () => {
  browserTest('shows an entry before the server has answered', async ({ open }) => {
    const page = await open()
    await visit(page, '/lab/guestbook', true)
    const release = await holdCalls(page)
    const message = `ahead ${randomUUID()}`
    await sign(page, 'Fast', message)
    const first = page.getByTestId('entries').locator('li').first()
    await first.filter({ hasText: message }).waitFor()
    expect(await first.innerText()).toContain('on its way')
    release()
    await page.getByText('Thank you, Fast.').waitFor()
    await first.locator('time').waitFor()
    expect(await first.innerText()).toContain(message)
    expect(await page.getByText(message).count()).toBe(1)
  })

  browserTest('calls its own action, whatever a link of a stranger names', async ({ open }) => {
    const page = await open()
    await visit(page, '/lab', true)
    await page.evaluate(() => {
      const link = document.createElement('a')
      link.href = '/lab/guestbook?_action=0123456789abcdef0123&_action=x'
      link.textContent = 'A prize'
      document.querySelector('main')?.prepend(link)
    })
    await page.getByRole('link', { name: 'A prize' }).click()
    await page.getByRole('heading', { level: 1, name: 'Guestbook' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    const call = page.waitForRequest((request) => request.method() === 'POST')
    await sign(page, 'Calm', `own ${randomUUID()}`)
    expect((await call).url().match(/_action=/g)).toHaveLength(1)
    await page.getByText('Thank you, Calm.').waitFor()
  })

  browserTest('tells an entry that could not be sent from one that is on its way', async ({ open }) => {
    const page = await open({ allow: [/ERR_INTERNET_DISCONNECTED/, /ERR_FAILED/] })
    const loaded = page.waitForResponse(/call-troubles-/)
    await visit(page, '/lab/guestbook', true)
    await loaded
    await page.context().setOffline(true)
    const message = `offline ${randomUUID()}`
    await sign(page, 'Far', message)
    const first = page.getByTestId('entries').locator('li').first()
    await first.getByText('not sent', { exact: true }).waitFor()
    expect(await first.getAttribute('aria-busy')).toBe('false')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByTestId('entries').getByText(message).waitFor({ state: 'detached' })
  })

  browserTest('takes one entry of two clicks', async ({ open }) => {
    const page = await open()
    await visit(page, '/lab/guestbook', true)
    const release = await holdCalls(page)
    const message = `clicked twice ${randomUUID()}`
    await sign(page, 'Twice', message)
    await page.getByRole('button', { name: 'Signing …' }).click({ force: true })
    release()
    await page.getByText('Thank you, Twice.').waitFor()
    await page.reload()
    expect(await page.getByText(message).count()).toBe(1)
  })

  browserTest('keeps the focus at the list when the entry with it is deleted', async ({ open }) => {
    const page = await open()
    await visit(page, '/lab/guestbook', true)
    const message = `deleted by keyboard ${randomUUID()}`
    await sign(page, 'Keys', message)
    const entry = page.getByTestId('entries').locator('li').filter({ hasText: message })
    await entry.getByTestId('remove').press('Enter')
    await entry.waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('entries-heading')
  })

  browserTest('shows the entries of others without being asked', async ({ open }) => {
    const [reader, writer] = [await open(), await open({ javaScript: false })]
    await visit(reader, '/lab/guestbook', true)
    await visit(writer, '/lab/guestbook', false)
    const message = `from another tab ${randomUUID()}`
    await sign(writer, 'Other', message)
    await reader.getByText(message).waitFor()
    await writer.getByTestId('entries').locator('li').filter({ hasText: message }).getByTestId('remove').click()
    await reader.getByText(message).waitFor({ state: 'detached' })
  })
})

describe.for(JAVASCRIPT)('the session, JavaScript $name', ({ javaScript }) => {
  browserTest('signs in and out, with a message that is shown once', async ({ open }) => {
    const page = await open({ javaScript, allow: [statusComplaint(401), statusComplaint(403)] })
    const role = page.getByTestId('role')
    await visit(page, '/lab/session', javaScript)
    expect(await role.innerText()).toBe('nobody')
    await page.getByTestId('sign-in-guest').click()
    await page.getByText('You are signed in as guest.').waitFor()
    expect(await role.innerText()).toBe('guest')
    await page.getByRole('link', { name: 'the private page' }).click()
    await page.getByTestId('fallback').filter({ hasText: 'Forbidden' }).waitFor()

    await visit(page, '/lab/session', javaScript)
    expect(await page.getByTestId('flash').innerText()).toBe('')
    await page.getByTestId('sign-in-admin').click()
    await role.filter({ hasText: 'admin' }).waitFor()
    await page.getByRole('link', { name: 'the private page' }).click()
    expect(await page.getByTestId('private').innerText()).toBe('admin')

    await page.getByRole('link', { name: 'session' }).click()
    await page.getByTestId('sign-out').click()
    await role.filter({ hasText: 'nobody' }).waitFor()
    expect((await page.goto('/lab/private'))?.status()).toBe(401)
  })
})

describe.for(JAVASCRIPT)('an upload, JavaScript $name', ({ javaScript }) => {
  browserTest('is answered with the SHA-256 of the file', async ({ open }) => {
    const page = await open({ javaScript })
    await visit(page, '/lab/upload', javaScript)
    const buffer = Buffer.alloc(3_000_000, randomUUID())
    await page.getByLabel('File').setInputFiles({ name: 'wheel.bin', mimeType: 'application/octet-stream', buffer })
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByTestId('sha256').waitFor()
    expect(await page.getByTestId('sha256').innerText()).toBe(createHash('sha256').update(buffer).digest('hex'))
    expect(await page.getByText('SHA-256 of wheel.bin').count()).toBe(1)
  })

  browserTest('without a file asks for one', async ({ open }) => {
    const page = await open({ javaScript })
    await visit(page, '/lab/upload', javaScript)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByTestId('error-file').waitFor()
    expect(await page.getByTestId('error-file').innerText()).toBe('Please choose a file.')
  })
})

describe('an upload with JavaScript', () => {
  browserTest('shows that it is under way', async ({ open }) => {
    const page = await open()
    await visit(page, '/lab/upload', true)
    const release = await holdCalls(page)
    await page.getByLabel('File').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('abc') })
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByTestId('progress').waitFor()
    release()
    await page.getByTestId('sha256').waitFor()
    expect(await page.getByTestId('progress').count()).toBe(0)
  })

  browserTest('of more than 32 MiB is refused before it is sent', async ({ open }) => {
    const page = await open()
    await visit(page, '/lab/upload', true)
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    const folder = await makeTempDir('large-file')
    onTestFinished(() => folder.remove())
    const path = join(folder.path, 'large.bin')
    await writeFile(path, '')
    await truncate(path, 33_554_433)
    await page.getByLabel('File').setInputFiles(path)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByTestId('error-file').waitFor()
    expect(await page.getByTestId('error-file').innerText()).toBe('That file has 32.1 MiB; at most 32 MiB are taken.')
    expect(sent).not.toContain('POST')
  })
})

describe.for(JAVASCRIPT)('the kept page, JavaScript $name', ({ javaScript }) => {
  browserTest('is the same for all until it is dropped, and works as others do', async ({ open }) => {
    const key = randomUUID()
    const path = `/lab/kept/${key}?s=600`
    const [page, other] = [await open({ javaScript }), await open({ javaScript })]
    await visit(page, path, javaScript)
    const renderedAt = await page.getByTestId('rendered-at').innerText()
    const answer = other.waitForResponse((response) => response.url().endsWith(path))
    await visit(other, path, javaScript)
    expect((await answer).headers()['cache-status']).toContain('Millrace; hit')
    expect(await other.getByTestId('rendered-at').innerText()).toBe(renderedAt)
    await page.getByTestId('drop').click()
    await expect.poll(() => page.getByTestId('rendered-at').innerText()).not.toBe(renderedAt)
    await visit(other, path, javaScript)
    await expect.poll(() => other.getByTestId('rendered-at').innerText()).not.toBe(renderedAt)
    const shown = await other.getByTestId('rendered-at').innerText()
    await other.getByRole('link', { name: '2', exact: true }).click()
    await other.getByRole('heading', { name: 'Kept key 2' }).waitFor()
    await other.goBack()
    await other.getByRole('heading', { name: `Kept key ${key}` }).waitFor()
    expect(await other.getByTestId('rendered-at').innerText()).toBe(shown)
  })
})

describe.for(JAVASCRIPT)('the shared value, JavaScript $name', ({ javaScript }) => {
  browserTest('stays over visits until it is dropped, and then is new for everybody', async ({ open }) => {
    const path = `/lab/shared/${randomUUID()}`
    const [page, other] = [await open({ javaScript }), await open({ javaScript })]
    await visit(page, path, javaScript)
    const madeAt = await page.getByTestId('made-at').innerText()
    await visit(other, path, javaScript)
    expect(await other.getByTestId('made-at').innerText()).toBe(madeAt)
    await page.getByTestId('drop').click()
    await expect.poll(() => page.getByTestId('made-at').innerText()).not.toBe(madeAt)
    const dropped = await page.getByTestId('made-at').innerText()
    await visit(other, path, javaScript)
    expect(await other.getByTestId('made-at').innerText()).toBe(dropped)
    // What the loader itself tells is of the visit.
    expect(Number(await other.getByTestId('rendered-at').innerText())).toBeGreaterThan(Number(dropped))
  })
})

browserTest('the head of an answer is as it was received, without cookies and nonces', async ({ open }) => {
  const page = await open()
  const answer = await page.goto('/lab/session')
  await untilHydrated(page)
  const showHead = async (): Promise<string> => {
    await page.getByRole('button', { name: 'Show the head' }).click()
    expect(await page.getByTestId('head-status').innerText()).toBe('200 OK')
    return page.getByTestId('head-fields').innerText()
  }
  const fields = await showHead()
  // Another answer would have another trace.
  expect(fields).toContain(await answer?.headerValue('server-timing'))
  expect(fields).toContain("'nonce-…'")
  expect(fields).not.toMatch(/nonce-\w|nonce="\w/)

  await page.route('**/lab/session', async (route) => {
    const response = await route.fetch()
    await route.fulfill({
      response,
      headers: { ...response.headers(), 'set-cookie': 'probe=secret', 'x-probe': 'seen' },
    })
  })
  await page.goto('/lab/session')
  await untilHydrated(page)
  expect(await page.context().cookies()).toContainEqual(expect.objectContaining({ name: 'probe' }))
  const again = await showHead()
  expect(again).toContain('x-probe')
  expect(again).not.toMatch(/cookie|secret/)
})
