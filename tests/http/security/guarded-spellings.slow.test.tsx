/** Other spellings of a path that middleware or a guard protects, of documents, data and handlers. */
import express from 'express'
import { unauthorized } from 'millrace/server'
import { expect, test } from 'vitest'
import { portOf } from '../../support/listening.ts'
import { connectRaw } from '../../support/raw-http.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

const SECRET = 'secret-canary'
const encoded = (text: string): string => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')

/** @param path of one segment or more, without encoding. */
function spellingsOf(path: string): string[] {
  const rest = path.slice(1)
  const before = [
    '',
    '/',
    '//',
    '/.',
    '/x/..',
    '/%2e',
    '/x/%2e%2e',
    ';',
    '/;',
    '\\',
    '/%5c',
    '/%2f',
    '/(group)',
    '/[x]',
  ]
  const hosts = [
    'http://localhost',
    'HTTP://LOCALHOST',
    'http://localhost/',
    'http://evil.test',
    'http://localhost@evil',
  ]
  const behind = [
    '',
    '/',
    '//',
    '/.',
    '/%2e',
    '/x/..',
    ';',
    ';x=1',
    '%2f',
    '%20',
    '%00',
    '.',
    '.json',
    '.data',
    '?',
    '?_m=1',
  ]
  const names = [
    rest,
    encoded(rest[0] ?? '') + rest.slice(1),
    encoded(rest).toUpperCase(),
    rest.toUpperCase(),
    rest.replace('a', '%2561'),
    rest.replace('a', '%u0061'),
    rest.replace('a', '\u0430'),
  ]
  const spelled = [...before, ...hosts].flatMap((start) => names.map((name) => `${start}/${name}`))
  const all = [...spelled, ...behind.map((end) => path + end)]
  const data = ['/_m/data', '/_m/data/', '/_m/%64ata', '/x/../_m/data', '/_m/data/..', '/_M/data', '/_m/data/_m/data']
  const segment = encodeURIComponent(`${path}#page`)
  return [
    ...all,
    ...all.flatMap((one) => data.map((start) => start + one)),
    `/_m/data/?_m=${segment}`,
    `/_m/data/open?_m=${segment}`,
    `/_m/data${path}?_m=${segment}`,
    `/_m/assets/..${path}`,
  ]
}

test.for(['/admin', '/admin/x', '/vault', '/vault/x', '/vault/raw', '/alias/x', '/alias/raw'])(
  'no spelling of %s passes what is in front of it',
  async (path) => {
    const secret = {
      loader: moduleOf({ loader: () => SECRET }),
      page: page(({ data }: { readonly data: string }) => <h1>{data}</h1>),
    }
    const { app } = tinyApp({
      middleware: [express.Router().use('/admin', (_req, res) => void res.status(401).send('no'))],
      routes: {
        '/': { ...fallbacks('root'), page: page(() => <h1>Home</h1>) },
        '/open': { page: page(() => <h1>Open</h1>) },
        '/admin': secret,
        '/(group)/admin/x': secret,
        '/vault': { ...secret, guard: moduleOf({ guard: () => unauthorized() }) },
        '/vault/x': secret,
        '/vault/raw': { handler: moduleOf({ GET: () => new Response(SECRET), POST: () => new Response(SECRET) }) },
      } as never,
      rules: { rewrites: [{ source: '/alias/:rest*', destination: '/vault/:rest*' }] } as never,
    })
    app.readiness.markReady()
    const port = await portOf(app)
    const statuses = new Set<number>()
    const passed: string[] = []
    let connection = await connectRaw(port)
    for (const spelling of new Set(spellingsOf(path))) {
      for (const method of ['GET', 'POST']) {
        const head = `${method} ${spelling} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`
        await connection.send(Buffer.from(head))
        const answer = await connection.response()
        statuses.add(answer.status)
        if (answer.text.includes(SECRET)) passed.push(`${method} ${spelling}`)
        if (answer.header('connection') === 'close') {
          connection.socket.destroy()
          connection = await connectRaw(port)
        }
      }
    }
    connection.socket.destroy()
    expect(passed).toEqual([])
    expect([...statuses]).toEqual(expect.arrayContaining([308, 400, 401, 404]))
  },
)
