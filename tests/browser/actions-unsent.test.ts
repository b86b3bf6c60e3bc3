/** A network that fails is no failure of the page: what could not be sent stays, says so, and is sent once. */
import { isSameDocument } from 'millrace/testing'
import type { Page } from 'playwright-core'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { actionTest as browserTest, isCall, openActions, press } from '../support/actions-app.ts'
import { startBuiltServer } from '../support/built-server.ts'
import { openDeployment } from '../support/router-app.ts'
import { clickLink, heading, pathOf } from '../support/router-page.ts'

const OFFLINE = [
  /ERR_INTERNET_DISCONNECTED/,
  /ERR_CONNECTION/,
  /ERR_EMPTY_RESPONSE/,
  /ERR_SOCKET_NOT_CONNECTED/,
  /ERR_FAILED/,
]
const LATER_THAN_ANY_KEY_MS = 601_000

const ran = (page: Page) => page.getByTestId('ran')
const note = (page: Page) => page.getByLabel('Note')
const status = (page: Page) => page.getByRole('status').filter({ hasText: 'was not sent' })
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

/** Once the code for what cannot be sent is here. */
async function openUnsent(page: Page, path = '/unsent'): Promise<Page> {
  const loaded = page.waitForResponse(/call-troubles-/)
  await openActions(page, 'on', path)
  await loaded
  return page
}

async function goOffline(page: Page): Promise<void> {
  await page.context().setOffline(true)
  await expect.poll(() => page.evaluate(() => navigator.onLine)).toBe(false)
}

/** As if the site could not be reached, but for calls. */
function sendNothingByItself(page: Page): Promise<unknown> {
  return page.route(/build\.json/, (route) => route.abort())
}

describe('a form that is sent without a network', () => {
  browserTest('stays with what was typed, says so, and sends itself when the network is back', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await goOffline(page)
    await note(page).fill('half a thought')
    await press(page, 'Send note')
    await status(page).waitFor()
    expect(await status(page).locator('p').innerText()).toBe(
      '“Send note” was not sent. There is no network. It will be sent when the connection is back.',
    )
    await heading(page, 'Unsent')
    expect(await note(page).inputValue()).toBe('half a thought')
    // By hand, in vain.
    await press(page, 'Try again')
    await status(page).waitFor()
    await page.context().setOffline(false)
    await page.getByTestId('noted').getByText('1 half a thought', { exact: true }).waitFor()
    await expect.poll(() => ran(page).innerText()).toBe('noted half a thought')
    await page.getByText('Sent.', { exact: true }).waitFor()
    await page.locator('.millrace-unsent').waitFor({ state: 'detached' })
    expect(await note(page).inputValue()).toBe('')
    expect(await isSameDocument(page)).toBe(true)
  })

  browserTest('is told from one that is being sent', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    const way = page.getByTestId('on-its-way')
    await goOffline(page)
    await note(page).fill('apart')
    await press(page, 'Send note')
    await way.getByText('not sent', { exact: true }).waitFor()
    await press(page, 'Cancel')
    await expect.poll(() => way.innerText()).toBe('')
    await page.context().setOffline(false)
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    await page.route(isCall, async (route) => {
      asked.resolve()
      await released.promise
      await route.continue()
    })
    await press(page, 'Send note')
    await asked.promise
    expect(await way.innerText()).toBe('sending')
    released.resolve()
    await page.getByTestId('noted').getByText('1 apart', { exact: true }).waitFor()
    expect(await way.innerText()).toBe('')
  })

  browserTest('keeps its key: an answer that was lost is not asked for twice', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await page.route(isCall, async (route) => {
      await route.fetch()
      await page.context().setOffline(true)
      return route.abort('connectionreset')
    })
    await note(page).fill('once')
    await press(page, 'Send note')
    await status(page).waitFor()
    await page.unrouteAll()
    await page.context().setOffline(false)
    await page.getByTestId('noted').getByText('1 once', { exact: true }).waitFor()
    await page.reload()
    expect(await ran(page).innerText()).toBe('noted once')
  })

  browserTest('is asked for when its key is too old, and sent by hand', async ({ open }) => {
    const page = await open({ allow: OFFLINE })
    await page.clock.install()
    await openUnsent(page)
    await goOffline(page)
    await note(page).fill('late')
    await press(page, 'Send note')
    await status(page).waitFor()
    await page.clock.fastForward(LATER_THAN_ANY_KEY_MS)
    await page.context().setOffline(false)
    await page.getByText('It may have arrived before. Send it again?').waitFor()
    expect(await ran(page).innerText()).toBe('')
    await press(page, 'Try again')
    await page.getByTestId('noted').getByText('1 late', { exact: true }).waitFor()
  })

  browserTest('is asked for when it holds files, which are not chosen again', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await goOffline(page)
    await page.getByLabel('file').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('12345') })
    await press(page, 'Upload')
    await status(page).waitFor()
    expect(await status(page).innerText()).not.toContain('It will be sent')
    await page.context().setOffline(false)
    await page.getByText('The connection is back. Send it now?').waitFor()
    expect(await ran(page).innerText()).toBe('')
    await press(page, 'Try again')
    await page.getByTestId('uploaded').getByText('5', { exact: true }).waitFor()
    await expect.poll(() => ran(page).innerText()).toBe('uploaded 5')
  })

  browserTest('is sent once, however often it is pressed, by which button ever', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await goOffline(page)
    await press(page, 'Open')
    await press(page, 'Send it')
    await status(page).waitFor()
    // What was pressed, whatever it says meanwhile.
    expect(await status(page).innerText()).toContain('“Send it” was not sent.')
    expect(await page.getByRole('button', { name: 'Sending it' }).count()).toBe(1)
    await sendNothingByItself(page)
    await page.context().setOffline(false)
    // Beside the dialog the button would be out of reach.
    await page.locator('dialog').evaluate((dialog) => {
      const [own, again] = [...dialog.querySelectorAll('button')]
      for (const button of [again, again, own, again]) button?.click()
    })
    await expect.poll(() => ran(page).innerText()).toBe('quiet')
    await page.reload()
    expect(await ran(page).innerText()).toBe('quiet')
  })

  browserTest('leaves the end of the page within reach', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE, context: { viewport: { width: 390, height: 400 } } }))
    await goOffline(page)
    await press(page, 'Send note')
    await status(page).waitFor()
    const gap = await page.evaluate(() => {
      window.scrollTo(0, document.body.scrollHeight)
      const [button] = [...document.querySelectorAll('form button')].slice(-1)
      const bar = document.querySelector('.millrace-unsent')
      return (bar?.getBoundingClientRect().top ?? 0) - (button?.getBoundingClientRect().bottom ?? 0)
    })
    expect(gap).toBeGreaterThan(0)
  })

  browserTest('and given up keeps what was typed', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await goOffline(page)
    await note(page).fill('half a thought')
    await press(page, 'Send note')
    await status(page).waitFor()
    await press(page, 'Cancel')
    await page.locator('.millrace-unsent').waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('button', { name: 'Send note' }).isEnabled()).toBe(true)
    // And not to the first field, for which a telephone would bring up its keyboard.
    expect(await focused(page)).toBe('Send note')
    expect(await note(page).inputValue()).toBe('half a thought')
    await page.context().setOffline(false)
    await press(page, 'Send note')
    await page.getByTestId('noted').getByText('1 half a thought', { exact: true }).waitFor()
  })

  browserTest('and changed since is sent as it is then, and not as it was', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }), '/form')
    await goOffline(page)
    await page.getByLabel('note').fill('former')
    await press(page, 'Count')
    await status(page).waitFor()
    await page.getByLabel('note').fill('other')
    await page.context().setOffline(false)
    await page.getByText('The connection is back. Send it now?').waitFor()
    const call = page.waitForRequest((request) => isCall(new URL(request.url())))
    await press(page, 'Try again')
    expect((await call).postData()).toContain('other')
    await page.getByTestId('counted').getByText('1', { exact: true }).waitFor()
  })

  browserTest('keeps the focus where it is, and gives it back', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await goOffline(page)
    await page.getByRole('button', { name: 'Like' }).focus()
    await page.keyboard.press('Enter')
    await status(page).waitFor()
    expect(await focused(page)).toBe('Like')
    await sendNothingByItself(page)
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).focus()
    await page.keyboard.press('Enter')
    await page.getByTestId('likes').getByText('1', { exact: true }).waitFor()
    await expect.poll(() => focused(page)).toBe('Like')
  })
})

describe('what else cannot be sent', () => {
  browserTest('a call of a script waits, and pressed again it is the same one', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await goOffline(page)
    await press(page, 'Like')
    await status(page).waitFor()
    await press(page, 'Like')
    await status(page).waitFor()
    expect(await status(page).count()).toBe(1)
    await page.context().setOffline(false)
    await page.getByTestId('likes').getByText('1', { exact: true }).waitFor()
    await page.reload()
    expect(await ran(page).innerText()).toBe('noted liked')
  })

  browserTest('calls of one action keep their order', async ({ open }) => {
    const page = await openUnsent(await open({ allow: OFFLINE }))
    await goOffline(page)
    await note(page).fill('first')
    await press(page, 'Send note')
    await status(page).waitFor()
    await press(page, 'Like')
    await page.context().setOffline(false)
    await page.getByTestId('likes').getByText('2', { exact: true }).waitFor()
    await expect.poll(() => ran(page).innerText()).toBe('noted first, noted liked')
  })

  browserTest('who leaves the page takes it along, and who leaves the site is asked', async ({ open }) => {
    const page = await openUnsent(await open({ allow: [...OFFLINE, /Failed to fetch/] }))
    // Fetched while there is a network, so that it can be shown without one.
    await clickLink(page, 'Home')
    await heading(page, 'Home')
    await page.goBack()
    await heading(page, 'Unsent')
    await goOffline(page)
    await note(page).fill('on the way')
    await press(page, 'Send note')
    await status(page).waitFor()
    const asked = page.waitForEvent('dialog')
    void page.evaluate(() => location.assign('/elsewhere'))
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    await clickLink(page, 'Home')
    await heading(page, 'Home')
    await status(page).waitFor()
    await page.context().setOffline(false)
    await page.getByText('Sent.', { exact: true }).waitFor()
    await page.goBack()
    await heading(page, 'Unsent')
    await expect.poll(() => ran(page).innerText()).toBe('noted on the way')
  })

  browserTest('whoever comes after the visitor who has called is not asked', async ({ open }) => {
    const page = await openUnsent(await open({ allow: [...OFFLINE, /Failed to fetch/] }))
    await goOffline(page)
    await note(page).fill('for nobody')
    await press(page, 'Send note')
    await status(page).waitFor()
    const isAsked = () => page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })))
    expect(await isAsked()).toBe(true)
    await page.evaluate(() => document.dispatchEvent(new Event('millrace:former')))
    expect(await isAsked()).toBe(false)
  })
})

describe('a form is sent', () => {
  browserTest('to a server that is gone: it waits until one is there', async ({ open, edition, server }) => {
    const entry = join(edition.out, 'server/main.js')
    const doomed = await startBuiltServer({ entry })
    const gate = await openDeployment(doomed)
    onTestFinished(() => gate.close())
    const page = await open({ allow: OFFLINE, context: { baseURL: gate.origin } })
    await openUnsent(page)
    doomed.kill('SIGKILL')
    await doomed.exited
    await note(page).fill('patient')
    await press(page, 'Send note')
    await status(page).waitFor()
    expect(await status(page).innerText()).toContain('The site cannot be reached.')
    await heading(page, 'Unsent')
    expect(await note(page).inputValue()).toBe('patient')
    gate.deploy(server)
    await page.getByTestId('noted').getByText('1 patient', { exact: true }).waitFor()
  })

  browserTest.for([
    ['a page of its own', { status: 200, contentType: 'text/html', body: '<h1>Pay first</h1>' }],
    ['a redirect to its site', { status: 302, headers: { Location: 'http://portal.localhost:9/' } }],
    ['511', { status: 511, contentType: 'text/html', body: '<h1>Pay first</h1>' }],
    ['502, in front of a server that is gone', { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }],
  ] as const)('and somebody else answers by %s: it waits until the site does', async ([, answer], { open }) => {
    const allow = [...OFFLINE, /responded with a status of (?:511|502) /]
    const page = await openUnsent(await open({ allow }))
    await page.route(/\/_m\//, (route) => route.fulfill(answer))
    await note(page).fill('through a portal')
    await press(page, 'Send note')
    await status(page).waitFor()
    await heading(page, 'Unsent')
    expect(await note(page).inputValue()).toBe('through a portal')
    await page.unrouteAll()
    await press(page, 'Try again')
    await page.getByTestId('noted').getByText('1 through a portal', { exact: true }).waitFor()
    expect(await ran(page).innerText()).toBe('noted through a portal')
  })

  browserTest('without JavaScript: as ever', async ({ open }) => {
    const page = await open({ javaScript: false })
    const { path } = await openActions(page, 'off', '/unsent')
    await note(page).fill('plain')
    await press(page, 'Send note')
    await page.getByTestId('noted').getByText('1 plain', { exact: true }).waitFor()
    expect(pathOf(page).startsWith(path)).toBe(true)
  })
})
