import request from 'supertest'
import { expect, test } from 'vitest'
import { fakeClock, readStream, renderRoute, submitForm } from 'millrace/testing'
import application from '../src/app/app.ts'
import { sendMails, type Mail } from '../src/app/mail.server.ts'
import { AGENT, mailedPath, sendTicket, signedIn, startDesk } from './signed-in.ts'

test('the start page is in the language of the browser', async () => {
  await using app = startDesk()
  const to = (header: string) => request(app).get('/').set('Accept-Language', header)
  expect((await to('fr, de-AT;q=0.8, en;q=0.5')).headers['location']).toBe('/de')
  expect((await to('de;q=0, fr')).headers['location']).toBe('/en')
  expect((await request(app).get('/de').expect(200)).text).toContain('<html lang="de">')
  expect((await request(app).get('/de/nichts').expect(404)).text).toContain('Hier ist nichts')
  await request(app).get('/fr').expect(404)
})

test('a mailed link signs in, leads back to the page, and ends', async () => {
  const clock = fakeClock()
  await using app = startDesk({ clock })
  const ann = app.visitor()
  const refused = await ann.get('/de/account')
  expect(refused.status).toBe(401)
  expect((await refused.submit('#sign-in', { email: 'nowhere' })).text('#sign-in')).toContain('keine E-Mail-Adresse')
  expect((await refused.submit('#sign-in', { email: 'Ann@example.com' })).text('[role=status]')).toContain('Link')
  const link = mailedPath(app, 'ann@example.com')
  const unnamed = await (await ann.get(link)).submit('#enter')
  expect([unnamed.status, unnamed.text('#enter')]).toEqual([422, expect.stringContaining('Bitte ausfüllen')])
  const entered = await unnamed.submit('#enter', { name: 'Ann' })
  expect([entered.url, entered.text('h1')]).toEqual(['/de/account', 'Konto'])
  clock.advance(16 * 60_000)
  expect((await app.visitor().get(link)).text('h1')).toContain('zu alt')
})

test('one client that asks for too many links leaves others theirs', async () => {
  await using app = startDesk({ environment: { JOB_SECONDS: '3600', TRUST_PROXY: '127.0.0.1' } })
  const ask = async (client: number, email: string) => {
    const visitor = app.visitor({ headers: { 'X-Forwarded-For': `203.0.113.${client}` } })
    return (await visitor.get('/en')).submit('#sign-in', { email })
  }
  for (let n = 0; n < 50; n += 1) await ask(1, `stranger${n}@example.com`)
  for (let n = 0; n < 5; n += 1) expect((await ask(1, 'ann@example.com')).text('#sign-in')).toContain('Too many')
  expect((await ask(2, 'ann@example.com')).text('[role=status]')).toContain('link')
})

test('a ticket is sent, found, answered, edited, and solved', async () => {
  await using app = startDesk()
  const [ann, agent] = [await signedIn(app, 'ann@example.com', 'Ann'), await signedIn(app, AGENT, 'Gus')]
  const sent = await sendTicket(ann, 'Wheel', new File(['crack'], 'Räder 1.txt', { type: 'text/plain' }))
  expect([sent.url, sent.text('h1')]).toEqual(['/en/tickets/1', '#1 Wheel'])
  expect(sent.text('main')).toContain('Thank you')
  expect((await ann.get(sent.url)).text('main')).not.toContain('Thank you')

  const file = await ann.fetch(sent.find('[data-role] a')?.attributes['href'] ?? '')
  expect([await file.text(), file.headers.get('content-disposition')]).toEqual([
    'crack',
    expect.stringMatching(/^attach/),
  ])
  expect((await agent.get('/en/tickets?q=WHEEL&status=open')).all('main li a')).toHaveLength(1)
  expect((await agent.get('/en/tickets?q=water')).all('main li a')).toHaveLength(0)

  const answered = await (await agent.get(sent.url)).submit('#comment', { text: 'Oil it.', files: [] })
  expect(answered.all('[data-role] p').map(({ text }) => text)).toEqual(['The wheel stands still.', 'Oil it.'])
  expect((await answered.submit('#comment', { text: ' ' })).status).toBe(422)
  const files = ['1', '2', '3', '4'].map((name) => new File([name], name))
  const tooMany = await answered.submit('#comment', { text: 'Look.', files })
  expect([tooMany.status, tooMany.text('#comment')]).toEqual([413, expect.stringContaining('at most 3')])
  expect(mailedPath(app, 'ann@example.com')).toBe('/en/tickets/1')

  const dialog = await answered.follow('a[href$="/edit"]')
  expect((await dialog.submit('#edit', { subject: 'Oily wheel' })).text('h1')).toBe('#1 Oily wheel')
  await (await agent.get(sent.url)).submit('aside form:nth-of-type(2)')
  expect((await ann.get(sent.url)).all('#history li')[0]?.text).toMatch(/Solved \(Gus\)/)
})

test('what a page shows changes where it listens', async () => {
  await using app = startDesk()
  const ann = await signedIn(app, 'ann@example.com', 'Ann')
  const ticket = await sendTicket(ann, 'Wheel')
  const signal = AbortSignal.timeout(20_000)
  await using one = readStream(await ann.fetch(`${ticket.url}/events`), { signal })
  await using list = readStream(await ann.fetch('/en/tickets/events'), { signal })
  expect((await ticket.submit('#comment', { text: 'Please hurry.' })).status).toBe(200)
  await Promise.all([one.until('ticket:1'), list.until('tickets:')])
})

test('nobody sees or changes what is somebody else’s', async () => {
  await using app = startDesk()
  const [ann, bob] = [await signedIn(app, 'ann@example.com', 'Ann'), await signedIn(app, 'bob@example.com', 'Bob')]
  const { url } = await sendTicket(ann, 'Mine')
  const { url: to, ...form } = await submitForm((await ann.get(url)).html, '#comment', { text: 'Yours' })
  for (const [visitor, status] of [
    [bob, 404],
    [app.visitor(), 401],
  ] as const) {
    for (const path of [url, `${url}/events`, `${url}/files/none`]) {
      expect((await visitor.fetch(path)).status).toBe(status)
    }
    expect((await visitor.fetch(to, form)).status).toBe(status)
  }
  for (const path of ['/en/stats', `${url}/edit`]) expect((await ann.get(path)).status).toBe(403)
})

test('programs list, send and solve tickets with a token', async () => {
  await using app = startDesk()
  const [ann, agent] = [await signedIn(app, 'ann@example.com', 'Ann'), await signedIn(app, AGENT, 'Gus')]
  const tokenOf = async (visitor: typeof ann) =>
    (await (await visitor.get('/en/account')).submit('#token')).text('code')
  const [customer, staff] = [`Bearer ${await tokenOf(ann)}`, `Bearer ${await tokenOf(agent)}`]
  await request(app).get('/api/tickets').expect(401)
  await request(app).get('/api/tickets').set('Authorization', 'Bearer wrong').expect(401)
  const wrong = await request(app).post('/api/tickets').set('Authorization', customer).send({ subject: '' }).expect(422)
  expect(wrong.body.errors.map(({ path }: { path: string }) => path)).toEqual(['subject', 'topic', 'text'])
  const body = { subject: 'By a program', topic: 'other', text: 'Hello' }
  const made = await request(app).post('/api/tickets').set('Authorization', customer).send(body).expect(201)
  const at = made.headers['location'] ?? ''
  await request(app).patch(at).set('Authorization', customer).send({ status: 'solved' }).expect(403)
  await request(app).patch(at).set('Authorization', staff).send({ status: 'solved' }).expect(204)
  expect((await request(app).get(at).set('Authorization', customer)).body).toMatchObject({ status: 'solved' })
  const listed = await request(app).get('/api/tickets?status=solved').set('Authorization', staff).expect(200)
  expect(listed.body.tickets).toHaveLength(1)
})

test('a mail that cannot be sent waits for the next time', async () => {
  await using app = startDesk()
  await (await app.visitor().get('/de')).submit('#sign-in', { email: 'ann@example.com' })
  const sent: Mail[] = []
  await expect(sendMails(app, () => Promise.reject(new Error('no server')))).rejects.toThrow('no server')
  await sendMails(app, async (mail) => void sent.push(mail))
  await sendMails(app, async (mail) => void sent.push(mail))
  expect(sent.map(({ recipient, subject }) => [recipient, subject])).toEqual([
    ['ann@example.com', 'Anmelden beim Mühlendienst'],
  ])
  // Addresses that the mail server refuses delay no other mail.
  for (let n = 0; n < 20; n += 1) {
    await (await app.visitor().get('/de')).submit('#sign-in', { email: `bad${n}@example.com` })
  }
  const refuseBad = async (mail: Mail) => {
    if (mail.recipient.startsWith('bad')) throw new Error('no such mailbox')
    sent.push(mail)
  }
  await expect(sendMails(app, refuseBad)).rejects.toThrow('no such mailbox')
  await (await app.visitor().get('/de')).submit('#sign-in', { email: 'bob@example.com' })
  await expect(sendMails(app, refuseBad)).rejects.toThrow('no such mailbox')
  expect(sent.at(-1)?.recipient).toBe('bob@example.com')
})

test('the figures are a list without JavaScript', async () => {
  const day = { at: 0, name: 'Jan 1', opened: 3, solved: 1 }
  const around = { app: application, params: { locale: 'en' }, data: { days: [day] } }
  const user = { name: 'Gus', email: AGENT, isAgent: true }
  const layouts = { '/[locale]': { origin: 'http://localhost', user, message: undefined } }
  const page = await renderRoute('/[locale]/stats', { ...around, layouts })
  expect(page.all('main li').map(({ text }) => text)).toEqual(['Jan 1: Open 3, Solved 1'])
})
