/** The languages of the handbook's chapter on languages: start page, alternates, `lang`, and locales that are none. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import application from '../fixtures/locales-app/app.ts'
import { submitForm } from 'millrace/testing'
import * as actions from '../fixtures/locales-app/order/actions.server.ts'
import { chooseLocale } from '../fixtures/locales-app/locales.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { withServer } from '../support/listening.ts'

const ROOT = join(import.meta.dirname, '../..')
const app = createApp({
  app: application,
  config: readConfig({ ORIGIN: 'https://mills.example' }),
  log: pino({ level: 'silent' }),
  actions: { 'order/actions.server.ts': actions },
})
const get = (path: string) => request(app).get(path).set('Host', 'mills.example')

describe('the chapter on languages', () => {
  const files = ['locales.ts', 'routes.ts', 'start-loader.server.ts', 'missing.server.ts', 'layout-loader.server.ts']
  files.push('layout.tsx', 'document.tsx', 'texts.ts', 'schema-language.server.ts')
  test.for(files)('prints %s as it is run here', (file) => {
    const chapter = readFileSync(join(ROOT, 'docs/languages.md'), 'utf8')
    const code = readFileSync(join(ROOT, 'tests/fixtures/locales-app', file), 'utf8')
    expect(chapter).toContain(`\n${code}\`\`\``)
  })
})

describe('the start page', () => {
  test.each([
    ['de', 'de'],
    ['de-AT, en;q=0.5', 'de'],
    ['fr, pt;q=0.8, en;q=0.9', 'en'],
    ['PT-br', 'pt-BR'],
    ['de;q=0, *', 'en'],
    ['', 'en'],
    ['../, //evil.example', 'en'],
    [`${'x,'.repeat(2_000)}de`, 'en'],
  ])('leads a browser of %j to /%s', async (accepted, locale) => {
    const answer = await get('/').set('Accept-Language', accepted).expect(307)
    expect(answer.headers['location']).toBe(`/${locale}`)
    // No cache keeps it, so it need not vary.
    expect(answer.headers['cache-control']).toContain('no-store')
  })

  test('takes no time for headers that are made to', () => {
    expect(chooseLocale(` ;q=${' '.repeat(100_000)}`)).toBe('en')
    expect(chooseLocale(null)).toBe('en')
  })
})

describe('a page in a language', () => {
  test('has its language, and links to itself in the others and to the start page', async () => {
    const { text } = await get('/pt-BR/mills').expect(200)
    expect(text).toContain('<html lang="pt-BR">')
    const head = text.slice(0, text.indexOf('</head>'))
    for (const [lang, path] of Object.entries({ en: '/en/mills', de: '/de/mills', 'x-default': '/' })) {
      expect(head).toContain(`<link rel="alternate" hrefLang="${lang}" href="https://mills.example${path}"/>`)
    }
  })

  test('links to itself in the others with its query', async () => {
    const { text } = await get('/en/mills?order=age&word=a%26b').expect(200)
    expect(text).toContain('href="/de/mills?order=age&amp;word=a%26b"')
  })

  test('is not found within its layout where no page is', async () => {
    const { text } = await get('/de/nowhere/at/all').expect(404)
    expect(text).toContain('<html lang="de">')
    expect(text).toContain('nothing here')
    expect(text).toContain('hrefLang="en"')
  })

  test.each([
    '/fr/mills',
    '/fr/nowhere',
    '/fr',
    '/EN',
    '/en%2Fmills',
    '/%2e%2e%2fmills',
    '/%5C%5Cevil.example',
    '/..%2f..%2fetc',
    '/%2Fevil.example/mills',
  ])('is not found at %s, which names none of them', async (path) => {
    const answer = await get(path).expect(404)
    expect(answer.text).not.toContain('hrefLang')
    expect(answer.text).not.toContain('evil.example/')
  })

  test.each(['/../mills', '/en/../../mills'])('is not found at %s as it is on the wire', async (path) => {
    const answer = await withServer(app, (port) => requestRaw(port, getRequest(path, { Host: 'mills.example' })))
    expect(answer.status).toBe(404)
  })

  test('is never on another host: //evil is a path of this site', async () => {
    const answer = await get('//evil.example/mills').expect(308)
    expect(answer.headers['location']).toBe('/evil.example/mills')
    await get('/evil.example/mills').expect(404)
  })
})

describe('a form in a language', () => {
  const send = async (locale: string, fields: Readonly<Record<string, string>>) => {
    const { text } = await get(`/${locale}/order`).expect(200)
    const form = await submitForm(text, '#order', fields)
    return request(app).post(form.url).set('Host', 'mills.example').set(form.headers).send(form.body)
  }

  test.each([
    ['en', 'Too small: expected string to have &gt;=3 characters', 'We grind 50 kilos at most.'],
    ['de', 'Zu klein: erwartet, dass string &gt;=3 Zeichen hat', 'Wir mahlen höchstens 50 Kilo.'],
    ['pt-BR', 'Demasiado pequeno: esperava que o texto tivesse &gt;= 3 caracteres', 'Moemos até 50 quilos.'],
  ])('has the faults of its schema in it: %s', async (locale, ofZod, ownWord) => {
    const { status, text } = await send(locale, { grain: 'x', kilos: '51' })
    expect(status).toBe(422)
    expect(text).toContain(ofZod)
    expect(text).toContain(ownWord)
  })

  test('keeps them apart, however many are checked at once', async () => {
    const answers = await Promise.all(
      ['de', 'en', 'de', 'en'].map((locale) => send(locale, { grain: 'x', kilos: '1' })),
    )
    expect(answers.map(({ text }) => text.includes('Zu klein'))).toEqual([true, false, true, false])
  })

  test('has the runtime’s own words in it too', async () => {
    const { text } = await request(app)
      .post('/de/order?_action=AAAAAAAAAAAAAAAA.0')
      .set({ Host: 'mills.example', 'Sec-Fetch-Site': 'cross-site' })
      .expect(403)
    expect(text).toContain('<html lang="de">')
    expect(text).toContain('Dieses Formular kommt von einer anderen Website.')
  })
})
