import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp, readStream, submitForm, type TestApp, type Visitor } from 'millrace/testing'
import application from '../src/app/app.ts'

const PASSWORD = 'a secret of the test'
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const HEART = 'form.favourite button'

async function signedUp(app: TestApp, name: string): Promise<Visitor> {
  const visitor = app.visitor()
  const page = await (await visitor.get('/account')).submit('#sign-up', { name, password: PASSWORD })
  assert.equal(page.url, '/account')
  return visitor
}

/** @returns the path of the article. */
async function write(author: Visitor, title: string): Promise<string> {
  const form = await author.get('/write')
  const page = await form.submit('#article', { title, about: 'In short', body: 'One.\n\nTwo.', tags: 'Mills, water' })
  assert.equal(page.text('h1'), title)
  return page.url
}

test('an article is written, found by its tag, marked, commented, edited and deleted', async () => {
  await using app = createTestApp(application)
  const ann = await signedUp(app, 'ann')
  const bob = await signedUp(app, 'bob')
  const path = await write(ann, 'The upper mill')
  assert.deepEqual(
    (await bob.get(path)).all('.prose p').map(({ text }) => text),
    ['One.', 'Two.'],
  )
  assert.equal((await bob.get('/?tag=water')).text('.preview h2'), 'The upper mill')
  assert.equal((await bob.get('/?tag=wind')).find('.preview'), undefined)

  const marked = await (await bob.get('/?tag=mills')).submit(HEART)
  assert.equal(marked.text(HEART), '♥ 1')
  assert.equal(marked.url, '/?tag=mills')
  const refused = await (await app.visitor().get('/')).submit(HEART)
  assert.equal(refused.status, 200)
  assert.match(refused.text('.favourite [role=alert]') ?? '', /Sign in/)

  await using events = readStream(await ann.fetch(`${path}/events`), { signal: AbortSignal.timeout(20_000) })
  const commented = await (await bob.get(path)).submit('#comment', { body: 'Well written.' })
  assert.equal(commented.text('#comments .text'), 'Well written.')
  await events.until(`article:${path.split('/').at(-1)}`)
  assert.equal((await (await bob.get(path)).submit('#comment', { body: ' ' })).status, 422)

  const editor = await (await ann.get(path)).follow('article nav a')
  assert.equal((await editor.submit('#article', { title: 'The lower mill' })).text('h1'), 'The lower mill')
  assert.equal((await (await ann.get(path)).submit('#remove')).url, '/')
  assert.equal((await bob.get(path)).status, 404)
})

test('the feed has the articles of followed authors', async () => {
  await using app = createTestApp(application)
  const [ann, bob] = [await signedUp(app, 'ann'), await signedUp(app, 'bob')]
  await write(ann, 'Followed')
  assert.equal((await bob.get('/?show=feed')).find('.preview'), undefined)
  await (await bob.get('/?author=ann')).submit('#follow')
  assert.equal((await bob.get('/?show=feed')).text('.preview h2'), 'Followed')
})

test('a stranger can change nothing of another, whatever is sent', async () => {
  await using app = createTestApp(application)
  const [ann, bob] = [await signedUp(app, 'ann'), await signedUp(app, 'bob')]
  const path = await write(ann, 'Mine')
  const api = `/api${path}`
  const forms = [
    await submitForm((await ann.get(path)).html, '#remove'),
    await submitForm((await ann.get(path.replace('articles', 'write'))).html, '#article', { title: 'Yours' }),
  ]
  for (const [stranger, status] of [
    [bob, 403],
    [app.visitor(), 401],
  ] as const) {
    for (const { url: _, ...form } of forms) assert.equal((await stranger.fetch(path, form)).status, status)
    assert.equal((await stranger.fetch(api, { method: 'DELETE' })).status, status)
    assert.equal((await stranger.get(path.replace('articles', 'write'))).status, status)
  }
  assert.equal((await bob.fetch('/api/articles/none', { method: 'DELETE' })).status, 404)
  assert.equal((await ann.get(path)).text('h1'), 'Mine')
  assert.equal((await ann.fetch(api, { method: 'DELETE' })).status, 204)
})

test('the API lists, adds and refuses articles', async () => {
  await using app = createTestApp(application)
  const ann = await signedUp(app, 'ann')
  const post = (body: unknown) =>
    ann.fetch('/api/articles', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const made = await post({ title: 'By the API', body: 'Text', tags: ['api'] })
  assert.equal(made.status, 201)
  const article = await (await ann.fetch(made.headers.get('Location') ?? '')).json()
  assert.deepEqual([article.title, article.tags, article.author], ['By the API', ['api'], 'ann'])
  const { articles } = await (await ann.fetch('/api/articles?tag=api')).json()
  assert.equal(articles.length, 1)
  assert.equal((await post({ title: '' })).status, 422)
  assert.equal((await ann.fetch('/api/articles?page=0')).status, 400)
})

test('passwords are asked for, and a device can be signed out from another', async () => {
  await using app = createTestApp(application)
  const ann = await signedUp(app, 'ann')
  const phone = app.visitor()
  const wrong = await (await phone.get('/account')).submit('#sign-in', { name: 'ann', password: 'wrong' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text('#sign-in') ?? '', /is wrong/)
  const signedIn = await wrong.submit('#sign-in', { name: 'ann', password: PASSWORD })
  assert.equal(signedIn.text('h1'), 'Account')
  await (await ann.get('/account')).submit('.rows form')
  assert.equal((await phone.get('/account')).status, 401)
  assert.equal((await (await ann.get('/')).submit('#sign-out')).find('#sign-out'), undefined)
})

test('an avatar is a picture, and is kept by browsers', async () => {
  await using app = createTestApp(application)
  const ann = await signedUp(app, 'ann')
  const send = async (bytes: Uint8Array<ArrayBuffer>) =>
    (await ann.get('/account')).submit('#picture', { picture: new File([bytes], 'me.png', { type: 'image/png' }) })
  assert.match((await send(Buffer.from('<svg/>'))).text('#picture') ?? '', /Choose a PNG/)
  assert.equal((await send(Buffer.alloc(300_000))).status, 422)
  const source = (await send(PNG)).find('img.avatar')?.attributes['src'] ?? ''
  const answer = await ann.fetch(source)
  assert.equal(answer.headers.get('Content-Type'), 'image/png')
  assert.match(answer.headers.get('Cache-Control') ?? '', /immutable/)
  assert.equal((await ann.fetch('/avatars/none.png')).status, 404)
})
