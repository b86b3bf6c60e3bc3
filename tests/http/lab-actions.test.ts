import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldValues, TestApp, Visitor } from 'millrace/testing'
import application from '../../src/app/app.ts'
import * as guestbook from '../../src/app/lab/guestbook/actions.server.ts'
import { openGuestbook } from '../../src/app/lab/guestbook/guestbook.server.ts'
import * as session from '../../src/app/lab/session/actions.server.ts'
import * as shared from '../../src/app/lab/shared/actions.server.ts'
import * as upload from '../../src/app/lab/upload/actions.server.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { openTestApp } from '../../src/testing/open-test-app.ts'

let app: TestApp
let origin: string

beforeAll(async () => {
  // With the ids that a build gives them: some calls are written by hand.
  const actions = {
    'lab/guestbook/actions.server.ts': guestbook,
    'lab/session/actions.server.ts': session,
    'lab/shared/actions.server.ts': shared,
    'lab/upload/actions.server.ts': upload,
  }
  app = openTestApp(application, { actions })
  origin = await app.origin()
})
afterAll(() => app.stop())

const newVisitor = (): Visitor => app.visitor()

const SIGN = 'form:has([name=message])'

describe('the guestbook without script', () => {
  async function sign(visitor: Visitor, name: string, message: string, path = '/lab/guestbook') {
    return visitor.submit(await visitor.get(path), SIGN, { name, message })
  }

  test('thanks for an entry and shows it first', async () => {
    const visitor = newVisitor()
    await sign(visitor, 'Ada', 'first')
    const page = await sign(visitor, ' Grace ', 'a\r\n<b>second</b>')
    expect(page.status).toBe(200)
    expect(page.text('[data-testid=sign-status]')).toBe('Thank you, Grace.')
    expect(page.text('[data-testid=entries]')).toMatch(/^Grace.*a\n<b>second<\/b>.*Ada.*first/s)
    expect(page.html).not.toContain('<b>second')
    expect((await newVisitor().get('/lab/guestbook')).text('[data-testid=entries]')).toMatch(/^Grace.*Ada/s)
  })

  test('says what is wrong beside the field, keeps what was typed, and puts the focus there', async () => {
    const visitor = newVisitor()
    const page = await sign(visitor, '  ', 'It\'s "kept" <here>')
    expect(page.status).toBe(422)
    expect(page.text('[data-testid=error-name]')).toBe('Please give a name.')
    expect(page.text('[data-testid=error-message]')).toBeUndefined()
    expect(page.text('[data-testid=entries]')).not.toContain('kept')
    expect(page.html).toMatch(
      /<input[^>]*aria-describedby="name-error name-hint"[^>]*aria-invalid="true"[^>]*autofocus/i,
    )
    expect(page.html).toMatch(/<textarea[^>]*>It&#x27;s &quot;kept&quot; &lt;here&gt;<\/textarea>/)
    const again = await visitor.submit(page, SIGN, { name: 'x'.repeat(41), message: 'y'.repeat(281) })
    expect(again.text('[data-testid=error-name]')).toBe('A name has at most 40 characters; this one has 41.')
    expect(again.text('[data-testid=error-message]')).toBe('A message has at most 280 characters; this one has 281.')
  })

  test.for([{}, { name: 'x' }])('asks for fields that were left empty: %j', async (fields: FieldValues) => {
    const visitor = newVisitor()
    const page = await visitor.submit(await visitor.get('/lab/guestbook'), SIGN, fields)
    expect(page.status).toBe(422)
    expect(page.text('[data-testid=error-message]')).toBe('Please write a message.')
  })

  test("lets one's own entry be deleted, and nobody else's", async () => {
    const [author, stranger] = [newVisitor(), newVisitor()]
    await sign(stranger, 'Stranger', 'to stay')
    const page = await sign(author, 'Author', 'to be deleted')
    expect(page.html.match(/data-testid="remove"/g)).toHaveLength(1)
    expect((await newVisitor().get('/lab/guestbook')).html).not.toContain('form:has([data-testid=remove])')
    // The stranger sends the author's form, bound and signed as it is.
    const refused = await stranger.submit(page, 'form:has([data-testid=remove])')
    expect(refused.status).toBe(200)
    expect(refused.text('[data-testid=entries]')).toContain('to be deleted')
    const removed = await author.submit(await author.get('/lab/guestbook'), 'form:has([data-testid=remove])')
    expect(removed.status).toBe(200)
    expect(removed.text('[data-testid=entries]')).not.toContain('to be deleted')
    expect(removed.text('[data-testid=entries]')).toContain('to stay')
    expect(removed.url).toBe('/lab/guestbook')
  })

  test('refuses a changed number of the entry to delete', async () => {
    const author = newVisitor()
    const page = await sign(author, 'Author', 'signed')
    const html = page.html.replaceAll(/(name="\$ACTION_ARGS\d+" value="v1\.)\w/g, '$1x')
    expect(html).not.toBe(page.html)
    expect((await author.submit({ ...page, html }, 'form:has([data-testid=remove])')).status).toBe(400)
  })

  test('shows twenty on a page and stays on the page that was signed from', async () => {
    const visitor = newVisitor()
    using entries = openedGuestbook()
    for (let at = 0; at < 20; at += 1) entries.sign({ name: 'Many', message: `entry ${at}`, visitor: 'v' }, at)
    const first = await visitor.get('/lab/guestbook')
    expect(first.html.match(/<li[^>]*>\s*<p[^>]*><bdi/g)).toHaveLength(20)
    expect(first.text('[data-testid=page-number]')).toMatch(/^Page 1 of \d/)
    const second = await sign(visitor, 'Many', 'from the second page', '/lab/guestbook?page=2')
    expect(second.text('[data-testid=page-number]')).toMatch(/^Page 2 of \d/)
    expect(second.html).toContain('Guestbook, page 2')
    expect((await visitor.get('/lab/guestbook')).text('[data-testid=entries]')).toMatch(/^Many.*from the second page/s)
    expect((await visitor.get('/lab/guestbook?page=99')).text('[data-testid=page-number]')).toMatch(
      /^Page (\d+) of \1$/,
    )
    expect((await visitor.get('/lab/guestbook?page=none')).text('[data-testid=page-number]')).toMatch(/^Page 1 /)
  })

  test('takes another entry from a page that was gone back to', async () => {
    const visitor = newVisitor()
    const page = await visitor.get('/lab/guestbook')
    await visitor.submit(page, SIGN, { name: 'Back', message: 'the first' })
    const after = await visitor.submit(page, SIGN, { name: 'Back', message: 'the second' })
    expect(after.text('[data-testid=entries]')).toMatch(/^Back.*the second.*the first/s)
  })

  test('takes an entry once that was sent twice', async () => {
    const visitor = newVisitor()
    const page = await visitor.get('/lab/guestbook')
    const send = () => visitor.submit(page, SIGN, { name: 'Twice', message: 'only once' })
    await Promise.all([send(), send()])
    const after = await send()
    expect(after.text('[data-testid=sign-status]')).toBe('Thank you, Twice.')
    expect(after.text('[data-testid=entries]')?.match(/only once/g)).toHaveLength(1)
  })

  test('tells open pages of a change', async () => {
    const closed = new AbortController()
    const events = await fetch(`${origin}/lab/guestbook/events`, { signal: closed.signal })
    expect(events.headers.get('content-type')).toBe('text/event-stream')
    const reader = (events.body as ReadableStream<Uint8Array>).getReader()
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
    const revision = async (): Promise<number> => Number(/"revision":(\d+)/.exec(await next())?.[1])
    const before = await revision()
    const news = revision()
    await sign(newVisitor(), 'Live', 'now')
    expect(await news).toBe(before + 1)
    closed.abort()
  })
})

/** Entries by hand do not count against the limit of an address. */
function openedGuestbook() {
  const entries = openGuestbook(app.dataDir)
  return { ...entries, [Symbol.dispose]: () => entries.dispose() }
}

describe('the private page', () => {
  test('guards the actions that are called on it: 401, 403, and only an admin’s runs', async () => {
    const visitor = newVisitor()
    /** The guestbook's form, sent to the private page. */
    const signThere = async (message: string) => {
      const { html, ...page } = await visitor.get('/lab/guestbook')
      const moved = { ...page, html: html.replaceAll('/lab/guestbook?', '/lab/private?') }
      return visitor.submit(moved, SIGN, { name: 'Ann', message })
    }
    const id = actionId('lab/guestbook/actions.server.ts', 'sign')
    const call = await fetch(`${origin}/_m/data/lab/private?_action=${id}`, {
      method: 'POST',
      body: new URLSearchParams({ name: 'Ann', message: 'by nobody' }),
    })
    expect([call.status, await call.text()]).toEqual([401, expect.stringContaining('"unauthorized"')])
    expect((await signThere('by nobody')).status).toBe(401)
    const guest = await visitor.submit(await visitor.get('/lab/session'), '[data-testid=sign-in-guest]')
    expect((await signThere('by a guest')).status).toBe(403)
    await visitor.submit(guest, '[data-testid=sign-in-admin]')
    expect((await signThere('by an admin')).status).toBe(200)
    const { html } = await visitor.get('/lab/guestbook')
    expect(new Set(html.match(/by (?:nobody|a guest|an admin)/g))).toEqual(new Set(['by an admin']))
  })
})

describe('the guestbook under pressure', () => {
  test('asks a visitor who sends too much to wait, and keeps what was typed', async () => {
    const visitor = newVisitor()
    let page = await visitor.get('/lab/guestbook')
    for (let call = 0; call < 40 && page.text('[data-testid=sign-status]')?.startsWith('So many') !== true; call += 1) {
      page = await visitor.submit(page, SIGN, { name: 'Eager', message: `call ${call}` })
    }
    expect(page.text('[data-testid=sign-status]')).toMatch(
      /^So many entries have come from your address that this one was not taken\. Send it again in (?:a second|\d seconds)\.$/,
    )
    expect(page.html).toMatch(/<textarea[^>]*>call \d+<\/textarea>/)
  })
})

describe('the session', () => {
  test('lets nobody, a guest and an admin meet 401, 403 and 200', async () => {
    const visitor = newVisitor()
    const privatePage = async (): Promise<number> => (await visitor.get('/lab/private')).status
    expect(await privatePage()).toBe(401)

    const start = await visitor.get('/lab/session')
    expect(start.text('[data-testid=role]')).toBe('nobody')
    expect(start.html).not.toContain('sign-out')
    const guest = await visitor.submit(start, '[data-testid=sign-in-guest]')
    expect([guest.status, guest.text('[data-testid=role]'), guest.text('[data-testid=flash]')]).toEqual([
      200,
      'guest',
      'You are signed in as guest.',
    ])
    expect((await visitor.get('/lab/session')).text('[data-testid=flash]')).toBe('')
    expect(await privatePage()).toBe(403)

    const admin = await visitor.submit(guest, '[data-testid=sign-in-admin]')
    expect(admin.text('[data-testid=role]')).toBe('admin')
    const page = await visitor.get('/lab/private')
    expect([page.status, page.text('[data-testid=private]')]).toEqual([200, 'admin'])

    const out = await visitor.submit(admin, '[data-testid=sign-out]')
    expect([out.text('[data-testid=role]'), out.text('[data-testid=flash]')]).toEqual(['nobody', 'You are signed out.'])
    expect(await privatePage()).toBe(401)
  })

  test('goes on in Safari, which keeps no Secure cookie of this machine', async () => {
    const userAgent = 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15'
    const visitor = app.visitor({ headers: { 'User-Agent': userAgent } })
    const guest = await visitor.submit(await visitor.get('/lab/session'), '[data-testid=sign-in-guest]')
    expect(guest.text('[data-testid=flash]')).toBe('You are signed in as guest.')
    const { status, setCookies } = await visitor.submit(guest, '[data-testid=sign-in-admin]')
    expect(status).toBe(200)
    expect(setCookies.filter((line) => /secure/i.test(line))).toEqual([])
    expect((await visitor.get('/lab/private')).text('[data-testid=private]')).toBe('admin')
  })

  test('cannot be begun as anybody else', async () => {
    const visitor = newVisitor()
    const { html, url } = await visitor.get('/lab/session')
    const changed = { html: html.replaceAll('value="admin"', 'value="root"'), url }
    const page = await visitor.submit(changed, '[data-testid=sign-in-admin]')
    expect(page.status).toBe(422)
    expect(page.text('[data-testid=role]')).toBe('nobody')
    expect((await visitor.get('/lab/private')).status).toBe(401)
  })
})

describe('an upload without script', () => {
  const bytes = Buffer.alloc(300_000, 'millrace ')

  test('is answered with the SHA-256 of the file', async () => {
    const visitor = newVisitor()
    const file = new File([bytes], 'wheel.bin')
    const page = await visitor.submit(await visitor.get('/lab/upload'), 'form:has([type=file])', { file })
    expect(page.status).toBe(200)
    expect(page.text('[data-testid=sha256]')).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(page.html).toContain('SHA-256 of wheel.bin, 293 KiB')
  })

  test('of another file, from a page that was gone back to, is answered with that one', async () => {
    const visitor = newVisitor()
    const page = await visitor.get('/lab/upload')
    await visitor.submit(page, 'form:has([type=file])', { file: new File(['one'], 'a.txt') })
    const after = await visitor.submit(page, 'form:has([type=file])', { file: new File(['two'], 'a.txt') })
    expect(after.text('[data-testid=sha256]')).toBe(createHash('sha256').update('two').digest('hex'))
  })

  test('without a file asks for one', async () => {
    const visitor = newVisitor()
    const page = await visitor.submit(await visitor.get('/lab/upload'), 'form:has([type=file])', { file: [] })
    expect(page.status).toBe(200)
    expect(page.text('[data-testid=error-file]')).toBe('Please choose a file.')
    expect(page.text('[data-testid=sha256]')).toBeUndefined()
  })

  test('of more than 32 MiB is refused', async () => {
    const visitor = newVisitor()
    const file = new File([Buffer.alloc(33_554_433)], 'large.bin')
    const page = await visitor.submit(await visitor.get('/lab/upload'), 'form:has([type=file])', { file })
    expect(page.status).toBe(413)
    expect(page.text('[data-testid=error-file]')).toBe('That file is too large; at most 32 MiB are taken.')
  })
})

describe('the shared value', () => {
  test('is the same for all visitors while the loader runs for each, until one of them drops it', async () => {
    const [ann, bob] = [app.visitor(), app.visitor()]
    const first = await ann.get('/lab/shared/1')
    expect(first.headers.get('cache-control')).toBe('public, s-maxage=1, max-age=0')
    const madeAt = first.text('[data-testid=made-at]')
    expect(madeAt).toMatch(/^\d{13}$/)
    const second = await bob.get('/lab/shared/1')
    expect(second.text('[data-testid=made-at]')).toBe(madeAt)
    expect(Number(second.text('[data-testid=rendered-at]'))).toBeGreaterThanOrEqual(
      Number(first.text('[data-testid=rendered-at]')),
    )
    const other = (await bob.get('/lab/shared/2')).text('[data-testid=made-at]')
    // So that the next one cannot have the same.
    await expect.poll(() => Date.now()).toBeGreaterThan(Number(madeAt))
    const dropped = await bob.submit(second, 'form:contains("Drop the value")')
    expect([dropped.url, dropped.status]).toEqual(['/lab/shared/1', 200])
    expect(Number(dropped.text('[data-testid=made-at]'))).toBeGreaterThan(Number(madeAt))
    expect((await ann.get('/lab/shared/1')).text('[data-testid=made-at]')).toBe(dropped.text('[data-testid=made-at]'))
    expect((await ann.get('/lab/shared/2')).text('[data-testid=made-at]')).toBe(other)
  })
})
