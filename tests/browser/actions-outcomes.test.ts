/** The table of outcomes, with JavaScript on, off, and arriving after the form was sent. */
import { isSameDocument } from 'millrace/testing'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { actionTest as browserTest, isCall, openActions, press, SCRIPTS } from '../support/actions-app.ts'
import { startBuiltServer } from '../support/built-server.ts'
import { statusComplaint } from '../support/page-complaints.ts'
import { heading, pathOf } from '../support/router-page.ts'

describe.for(SCRIPTS)('an action, JavaScript $name,', ({ scripts }) => {
  const javaScript = scripts !== 'off'

  browserTest('that returns nothing leaves the page with fresh data, and its arguments arrive', async ({ open }) => {
    const { page, path, settle } = await openActions(await open({ javaScript }), scripts)
    await press(page, 'Quiet')
    await page.getByTestId('ran').getByText('quiet', { exact: true }).waitFor()
    expect(pathOf(page)).toBe(path)
    if (scripts === 'on') expect(await isSameDocument(page)).toBe(true)
    await press(page, 'Remove')
    await page.getByTestId('ran').getByText('quiet, removed 7', { exact: true }).waitFor()
    await settle()
    expect(await page.getByTestId('ran').innerText()).toBe('quiet, removed 7')
  })

  browserTest('that returns a state shows it, and the next call goes on from there', async ({ open }) => {
    const { page, settle } = await openActions(await open({ javaScript }), scripts)
    for (const times of ['1', '2']) {
      await page.getByLabel('note').fill(times)
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'POST' && isCall(new URL(response.url()))),
        press(page, 'Count'),
      ])
      expect(answer.status()).toBe(200)
      await page.getByTestId('counted').getByText(times, { exact: true }).waitFor()
    }
    await settle()
    expect(await page.getByTestId('counted').innerText()).toBe('2')
  })

  browserTest('whose input is refused says why by 422, and keeps what was typed', async ({ open }) => {
    const { page, path, settle } = await openActions(await open({ javaScript, allow: [statusComplaint(422)] }), scripts)
    await page.getByLabel('name', { exact: true }).fill('annabel')
    await page.getByLabel('address.city').fill('Rotterdam')
    await page.getByLabel('password').fill('hunter2')
    await page.getByLabel('photo').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('png') })
    await press(page, 'Save')
    await page.getByTestId('errors').getByText('is too long').waitFor()
    await settle()
    expect(JSON.parse(await page.getByTestId('errors').innerText())).toEqual({
      name: ['is too long'],
      'address.city': ['is too long'],
    })
    expect(await page.getByTestId('omitted').innerText()).toBe('photo')
    expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('annabel')
    expect(await page.getByLabel('address.city').inputValue()).toBe('Rotterdam')
    expect(await page.getByLabel('password').inputValue()).toBe('')
    expect(await page.getByTestId('ran').innerText()).toBe('')
    await page.getByLabel('name', { exact: true }).fill('ann')
    await page.getByLabel('address.city').fill('Delft')
    await press(page, 'Save')
    await page.getByTestId('saved').getByText('ann', { exact: true }).waitFor()
    expect(await page.getByTestId('ran').innerText()).toBe('saved ann')
    // Another action than the one that the address has named meanwhile.
    await press(page, 'Quiet')
    await page.getByTestId('ran').getByText('saved ann, quiet', { exact: true }).waitFor()
    expect(pathOf(page)).toBe(path)
  })

  browserTest('that redirects leads there', async ({ open }) => {
    const { page, path, settle } = await openActions(await open({ javaScript }), scripts)
    await press(page, 'Leave')
    await heading(page, 'Home')
    await settle()
    expect(pathOf(page)).toBe('/')
    await page.goBack()
    await heading(page, 'Form')
    expect(pathOf(page)).toBe(path)
  })

  browserTest('that signs in and redirects to where a rule redirects leads there', async ({ open }) => {
    const { page, settle } = await openActions(await open({ javaScript }), scripts)
    await press(page, 'Enter')
    await heading(page, 'Home')
    await settle()
    expect(pathOf(page)).toBe('/')
    expect(await page.context().cookies()).toMatchObject([{ name: 'visitor' }])
  })

  browserTest.for([
    ['Missing', 404, 'No such page'],
    ['Closed', 403, 'Forbidden'],
    ['Stranger', 401, 'Not signed in'],
    ['Fail', 500, 'Failed on the server'],
  ] as const)('%s: shows the page of status %i', async ([button, status, title], { open }) => {
    const allow = [statusComplaint(status), /The server failed to provide this value/]
    const { page, settle } = await openActions(await open({ javaScript, allow }), scripts)
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      press(page, button),
    ])
    await heading(page, title)
    expect(answer.status()).toBe(status)
    await settle()
    await heading(page, title)
    expect(await page.content()).not.toContain('the secret of this failure')
    if (status === 500) expect(await page.getByTestId('digest').innerText()).toMatch(/^[\da-f]{12}$/)
  })

  browserTest('whose body is over the limit has not run, and the answer arrives', async ({ open }) => {
    const allow = [statusComplaint(413), /Failed to load route data/]
    const { page, path } = await openActions(await open({ javaScript, allow }), scripts)
    await page.getByLabel('Much').fill('x'.repeat(400_000))
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      press(page, 'Small'),
    ])
    expect(answer.status()).toBe(413)
    await page.getByText('too large').waitFor()
    if (scripts === 'on') await heading(page, 'Failed on the client')
    await page.goto(path, { waitUntil: 'commit' })
    await heading(page, 'Form')
    expect(await page.getByTestId('ran').innerText()).toBe('')
  })
})

browserTest.for(['on', 'off'] as const)(
  'an action that redirects to a site which the application names, JavaScript %s: leads there',
  async (scripts, { edition, open }) => {
    const elsewhere = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' })
      response.end('<link rel="icon" href="data:,"><h1>Elsewhere</h1>')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void elsewhere.close())
    await once(elsewhere, 'listening')
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
    const entry = join(edition.out, 'server/main.js')
    const server = await startBuiltServer({ entry, env: { FORM_TARGET: target } })
    onTestFinished(async () => void (await server.stop()))
    const page = await open({ javaScript: scripts === 'on', context: { baseURL: server.origin } })
    await openActions(page, scripts)
    await press(page, 'Away')
    await heading(page, 'Elsewhere')
    expect(page.url()).toBe(`${target}/`)
  },
)

browserTest.for(['on', 'off'] as const)(
  'an action that refuses, JavaScript %s: the fallback has its own title',
  async (scripts, { open }) => {
    const allow = [statusComplaint(404)]
    const { page } = await openActions(await open({ javaScript: scripts === 'on', allow }), scripts)
    await press(page, 'Missing')
    await heading(page, 'No such page')
    await expect.poll(() => page.title()).toBe('Missing')
    if (scripts === 'off') return
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('No such page')
    await expect.poll(() => page.locator('#millrace-announcer').textContent()).toBe('Missing')
  },
)

browserTest.for(['on', 'off'] as const)(
  'a form on the page of a 401, JavaScript %s: says what is wrong, and then lets in',
  async (scripts, { open }) => {
    const page = await open({ javaScript: scripts === 'on', allow: [statusComplaint(401)] })
    await openActions(page, scripts, '/members')
    await page.getByLabel('name').fill('bob')
    await press(page, 'Sign in')
    await page.getByText('Nobody is called bob.').waitFor()
    await page.getByLabel('name').fill('ann')
    await press(page, 'Sign in')
    await heading(page, 'Members')
    expect(pathOf(page)).toBe('/members')
    // It is said once, by the answer to the call or by the page that follows.
    expect(await page.getByText('Welcome').count()).toBe(1)
    if (scripts === 'on') expect(await isSameDocument(page)).toBe(true)
  },
)

browserTest('a form of another site, and one of another kind, have not run', async ({ open, server }) => {
  const page = await open({ javaScript: false, allow: [statusComplaint(403), statusComplaint(415)] })
  const { path } = await openActions(page, 'off')
  const action = await page.locator('form', { hasText: 'Quiet' }).getAttribute('action')
  for (const [from, enctype, status] of [
    [`http://evil.localhost:${server.port}/`, 'multipart/form-data', 403],
    [`${server.origin}/elsewhere`, 'text/plain', 415],
  ] as const) {
    await page.route(from, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" enctype="${enctype}" action="${server.origin}${action}"><button>Send</button></form>`,
      }),
    )
    await page.goto(from)
    const [answer] = await Promise.all([
      page.waitForResponse((one) => one.request().method() === 'POST'),
      press(page, 'Send'),
    ])
    expect(answer.status()).toBe(status)
  }
  await page.goto(path)
  expect(await page.getByTestId('ran').innerText()).toBe('')
})
