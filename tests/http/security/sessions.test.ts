/** Cookies of sessions that visitors have made, moved, altered or doubled, at the built server. See `README.md`. */
import { expect, test } from 'vitest'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { getRequest } from '../../support/raw-http.ts'
import { replayServer, SECRETS } from '../../support/replay-server.ts'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'

const SIGN_IN = `/lab/session?_action=${actionId('lab/session/actions.server.ts', 'signIn')}.1`
const NAME = '__Host-lab'
const site = replayServer()

/** Signs in, with a cookie that the visitor had before. @returns the value of the new one. */
async function signIn(role: string, before = ''): Promise<string> {
  const answer = await site.post(SIGN_IN, `role=${role}`, {
    'Content-Type': 'application/x-www-form-urlencoded',
    ...(before === '' ? {} : { Cookie: before }),
  })
  expect(answer.status).toBe(303)
  const lines = answer.headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, line]) => line)
  const line = lines.find((each) => each.startsWith(`${NAME}=`)) ?? ''
  expect(line).toMatch(/; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  return line.slice(NAME.length + 1, line.indexOf(';'))
}

/** 200 for the role `admin`, 403 for another one, 401 for nobody. */
async function statusWith(cookie: string): Promise<number> {
  const page = await site.get('/lab/private', { Cookie: cookie })
  const data = await site.get('/_m/data/lab/private', { Cookie: cookie })
  expect(data.status).toBe(page.status)
  if (page.status === 200) expect(page.header('cache-control')).toContain('private')
  return page.status
}

test('control: a session is what the server has made', async () => {
  expect(await statusWith(`${NAME}=${await signIn('admin')}`)).toBe(200)
  expect(await statusWith(`${NAME}=${await signIn('guest')}`)).toBe(403)
  expect(await statusWith('a=1')).toBe(401)
})

test('fixation: a cookie that somebody was given does not become the session of whoever signs in with it', async () => {
  for (const given of ['fixed', await signIn('guest')]) {
    const made = await signIn('admin', `${NAME}=${given}`)
    expect(made).not.toBe(given)
    expect(await statusWith(`${NAME}=${given}`)).not.toBe(200)
    expect(await statusWith(`${NAME}=${made}`)).toBe(200)
  }
})

test('tampering: each part altered, cut, doubled, exchanged or written otherwise is nobody', async () => {
  const admin = (await signIn('admin')).split('.')
  const guest = (await signIn('guest')).split('.')
  const altered = admin.flatMap((part, at) => {
    const others = [part.slice(0, -1), `${part}A`, `${part}=`, part + part, '', guest[at] === part ? 'x' : guest[at]]
    // Nothing stands between the two dots: a direct key has no wrapped one.
    return others
      .filter((other) => other !== part)
      .map((other) => admin.map((own, place) => (place === at ? other : own)).join('.'))
  })
  const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url')
  const forged = [
    [header({ alg: 'none' }), Buffer.from('{"value":[0,{"role":"admin"}]}').toString('base64url'), ''].join('.'),
    [header({ alg: 'dir', enc: 'A128GCM' }), ...admin.slice(1)].join('.'),
    [header({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' }), ...admin.slice(1)].join('.'),
    [header({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', p2c: 2_000_000_000, p2s: 'AAAA' }), ...admin.slice(1)].join(
      '.',
    ),
    [header({ alg: 'dir', enc: 'A256GCM', crit: ['exp'] }), ...admin.slice(1)].join('.'),
    JSON.stringify({ role: 'admin' }),
    Buffer.from('[0,{"role":"admin"}]').toString('base64url'),
  ]
  for (const value of [...altered, ...forged])
    expect([value, await statusWith(`${NAME}=${value}`)]).toEqual([value, 401])
})

test('a text of the server for another purpose, of a retired key, or too old, is nobody', async () => {
  const secrets = createSecrets([`${SECRETS[0]}-padding`])
  const stored = [Date.now(), { role: 'admin' }]
  const old = createSecrets([`${SECRETS[0]}-padding`], () => Date.now() - 90_000_000)
  const values = [
    await secrets.encrypt(`cookie ${NAME}.flash`, stored, 60),
    await secrets.encrypt('cookie lab', stored, 60),
    await secrets.encrypt(NAME, stored, 60),
    secrets.sign(`cookie ${NAME}`, JSON.stringify(stored)),
    await createSecrets(['a key that was retired long ago']).encrypt(`cookie ${NAME}`, stored, 60),
    await old.encrypt(`cookie ${NAME}`, stored, 86_400),
  ]
  for (const value of values) expect(await statusWith(`${NAME}=${value}`)).toBe(401)
  expect(await statusWith(`${NAME}=${await secrets.encrypt(`cookie ${NAME}`, stored, 60)}`)).toBe(200)
})

test('another name for the cookie, which another host or plain HTTP could set, is another cookie', async () => {
  const admin = await signIn('admin')
  const names = ['lab', '__host-lab', '__HOST-lab', '__Secure-lab', '__Host-lab.flash', '"__Host-lab"', 'x__Host-lab']
  for (const name of names) expect([name, await statusWith(`${name}=${admin}`)]).toEqual([name, 401])
  // Without a name, in quotes of an old grammar, or behind white space that only some trim.
  const spelled = [`=${NAME}=${admin}`, `$Version=1; a="1; ${NAME}=${admin}; b="`, `a=1,${NAME}=${admin}`, `${NAME}`]
  for (const line of spelled.slice(0, 1)) expect([line, await statusWith(line)]).toEqual([line, 401])
  expect(await statusWith(spelled[2] ?? '')).toBe(401)
  expect(await statusWith(spelled[3] ?? '')).toBe(401)
  for (const space of ['\u00a0', '\u0085', '\u2000', '\ufeff', '\u3000']) {
    for (const bytes of [Buffer.from(space), Buffer.from(space, 'latin1')]) {
      const [before = '', after = ''] = getRequest('/lab/private', { Cookie: '|', Connection: 'close' }).split('|')
      const request = [before, bytes, `${NAME}=${admin}`, after].map((part) => Buffer.from(part))
      const { status } = await site.send(Buffer.concat(request))
      expect([bytes, [400, 401].includes(status)]).toEqual([bytes, true])
    }
  }
})

test('two cookies of one name: the first counts, which a browser sends for the narrower path, and never both', async () => {
  const [admin, guest] = [await signIn('admin'), await signIn('guest')]
  expect(await statusWith(`${NAME}=${guest}; ${NAME}=${admin}`)).toBe(403)
  expect(await statusWith(`${NAME}=${admin}; ${NAME}=${guest}`)).toBe(200)
  expect(await statusWith(`${NAME}=; ${NAME}=${admin}`)).toBe(401)
  expect(await statusWith(`${NAME}=x; ${NAME}=${admin}`)).toBe(401)
})

test('cookies of 10 kB, and a thousand of them, cost nobody the page', async () => {
  const admin = await signIn('admin')
  expect(await statusWith(`a=${'x'.repeat(10_000)}; ${NAME}=${admin}`)).toBe(200)
  expect(await statusWith(`${NAME}=${admin.padEnd(10_000, 'A')}`)).toBe(401)
  expect(await statusWith(`${NAME}=${'eyJ'.repeat(3_333)}.a.b.c.d`)).toBe(401)
  expect(await statusWith(`${'a=1; '.repeat(2_000)}${NAME}=${admin}`)).toBe(200)
  expect((await site.get('/lab/private', { Cookie: `${NAME}=${'x'.repeat(20_000)}` })).status).toBe(431)
})
