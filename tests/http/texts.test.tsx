/** The runtime's own texts, in the language of the page for which they are said. */
import { Suspense, use, useActionState } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { submitForm } from 'millrace/testing'
import { action } from '../../src/server/routes/actions/action.ts'
import type { Texts, TextsPage } from '../../src/shared/texts.ts'
import { notFound } from '../../src/shared/control-flow.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { withServer } from '../support/listening.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const GERMAN: Partial<Texts> = {
  language: 'de',
  titles: { 400: 'Ungültige Anfrage', 403: 'Verboten', 404: 'Nicht gefunden', 405: 'Nicht erlaubt', 414: 'Zu lang' },
  forms: {
    403: 'Dieses Formular kommt von einer anderen Seite.',
    404: 'Dieses Formular gibt es nicht mehr.',
    413: 'Das ist zu viel.',
    415: 'Solche Formulare werden nicht gelesen.',
  },
  serverFailure: 'Auf dem Server ist ein Fehler aufgetreten',
  digest: 'Kennung: %s',
  again: 'Noch einmal <versuchen>',
  home: 'Startseite',
  refused: 'Diese Anfrage wurde abgelehnt.',
  partFollows: 'Dieser Teil folgt am "Ende" der Seite.\\</style>',
  partMissing: 'Ein Teil der Seite fehlt.',
  tooLarge: 'Zu groß: höchstens %s.',
  tooManyFiles: 'Zu viele Dateien: höchstens %s.',
}

const asked: TextsPage[] = []
/** By the params of the page, else by the path, else by what the browser wants. */
function texts(of: TextsPage): Partial<Texts> | undefined {
  asked.push(of)
  const locale = of.params['locale'] ?? (/^\/de\b/.test(of.pathname) ? 'de' : of.acceptLanguage?.slice(0, 2))
  if (locale === 'broken') throw new Error('no such language')
  // As an application may pass on what is in the URL.
  if (locale === 'no-language-at-all') return { ...GERMAN, language: locale }
  return locale === 'de' ? GERMAN : undefined
}

const save = action({ bodyLimit: 2_500_000, handler: () => ({ kind: 'saved' }) })
const own = action({ bodyLimit: 1_000, tooLarge: ({ params }) => `zu groß (${params['locale']})`, handler: () => null })

function Forms() {
  const [state, send] = useActionState(save as never, null)
  const [other, sendOwn] = useActionState(own as never, null)
  return (
    <>
      <form action={send} id="save">
        <input type="file" name="file" />
        {JSON.stringify(state)}
      </form>
      <form action={sendOwn} id="own">
        <input type="file" name="file" />
        {JSON.stringify(other)}
      </form>
    </>
  )
}

const Value = ({ of }: { of: Promise<string> }) => use(of)
const Late = ({ data }: { data: { value: Promise<string> } }) => (
  <Suspense fallback="…">
    <Value of={data.value} />
  </Suspense>
)
const late = (value: () => Promise<string>) => ({
  page: page(Late),
  loader: moduleOf({ loader: (() => ({ value: value() })) as never }),
})
/** After the shell. */
const soon = () => new Promise<string>((resolve) => setTimeout(resolve, 50, 'late'))

const { app, logs } = tinyApp({
  routes: {
    '/': { page: page(() => <p>home</p>) },
    '/[locale]': { page: page(Forms) },
    '/[locale]/late': late(soon),
    '/[locale]/late/missing': late(() => soon().then(() => notFound())),
    '/[locale]/late/failing': late(() => soon().then(() => Promise.reject(new Error('late')))),
    '/[locale]/failing': {
      page: page(() => {
        throw new Error('a failure')
      }),
    },
  },
  texts,
  actions: { 'actions.server.ts': { save, own } },
})
const get = (path: string) => request(app).get(path).set({ Accept: 'text/html', 'User-Agent': 'Mozilla/5.0' })
const post = (path: string) => request(app).post(path).type('form')
const NOTHING = '_action=AAAAAAAAAAAAAAAA.0'

describe('pages of the runtime', () => {
  test.for([
    ['a form of another site', () => post(`/de?${NOTHING}`).set('Sec-Fetch-Site', 'cross-site'), 403, '403 Verboten'],
    ['a form of an action that is gone', () => post(`/de?${NOTHING}`), 404, 'gibt es nicht mehr'],
    ['a page without an action', () => request(app).delete('/de'), 405, '405 Nicht erlaubt'],
    ['a failure without a boundary', () => get('/de/failing'), 500, 'Auf dem Server ist ein Fehler aufgetreten'],
    ['a URL that is too long', () => get(`/de/${'a'.repeat(9_000)}`), 414, 'Diese Anfrage wurde abgelehnt.'],
    ['a path that cannot be decoded', () => get('/de/%'), 400, 'Diese Anfrage wurde abgelehnt.'],
    ['a page that is not there', () => get('/nothing/at/all').set('Accept-Language', 'de'), 404, 'Nicht gefunden'],
  ] as const)('%s', async ([, ask, status, text]) => {
    const answer = await ask()
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
    expect(answer.text).toContain('<html lang="de">')
    expect(answer.text).toContain('>Startseite</a>')
    if (status === 500) {
      expect(answer.text).toMatch(/>Kennung: [\da-f]{12}</)
      expect(answer.text).toContain('Noch einmal &lt;versuchen&gt;')
    }
  })

  test('a malformed Host', async () => {
    const answer = await withServer(app, (port) =>
      requestRaw(port, getRequest('/de', { Host: 'a b', Accept: 'text/html' })),
    )
    expect(answer.body.toString()).toContain('Diese Anfrage wurde abgelehnt.')
  })

  test('are English without texts of their language, and where the function fails, which is reported', async () => {
    expect((await get('/en/failing')).text).toContain('Application error: a server-side exception has occurred')
    const answer = await get('/broken/failing')
    expect(answer.status).toBe(500)
    expect(answer.text).toContain('<html lang="en">')
    expect(JSON.stringify(logs)).toContain('no such language')
  })
})

describe('faults of files', () => {
  const file = (bytes: number) => new File(['x'.repeat(bytes)], 'a.txt')

  test.for([
    ['de', 'save', 'Zu groß: höchstens 2,5 MB.'],
    ['en', 'save', 'Too large: at most 2.5 MB.'],
    ['no-language-at-all', 'save', 'Zu groß: höchstens 2.5 MB.'],
    ['de', 'own', 'zu groß (de)'],
  ] as const)('in %s, of %s', async ([locale, id, text]) => {
    const { text: html } = await get(`/${locale}`).expect(200)
    const form = await submitForm(html, `#${id}`, { file: file(id === 'save' ? 2_600_000 : 1_500) })
    const answer = await request(app).post(form.url).set(form.headers).send(form.body)
    expect(answer.status).toBe(413)
    expect(answer.text).toContain(text)
  })
})

describe('a streamed part, without JavaScript', () => {
  test('says where it is, and no text ends the stylesheet', async () => {
    const { text } = await get('/de/late').expect(200)
    const [, hint] = /::before\{content:"(.*?)"\}/.exec(text) ?? []
    expect(hint).toBe(String.raw`Dieser Teil folgt am \22 Ende\22  der Seite.\5c \3c /style\3e `)
    expect((await get('/en/late')).text).toContain('"This part follows at the end of the page."')
  })

  test.for([
    ['missing', 'Ein Teil der Seite fehlt. 404 Nicht gefunden'],
    ['failing', 'Ein Teil der Seite fehlt. Auf dem Server ist ein Fehler aufgetreten. Kennung: '],
  ] as const)('says that it is missing: %s', async ([path, text]) => {
    expect((await get(`/de/late/${path}`)).text).toContain(text)
  })
})

test('the function gets the params of the page, its path, and the languages of the browser', async () => {
  asked.length = 0
  await post(`/de?${NOTHING}`).set('Accept-Language', 'pt')
  expect(asked).toEqual([{ params: { locale: 'de' }, pathname: '/de', acceptLanguage: 'pt' }])
})
