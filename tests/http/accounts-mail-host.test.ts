/** Reset mails of the chapter on accounts, asked for at a host of the visitor's choice. */
import { pino } from 'pino'
import { createServer } from 'node:http'
import { createVisitor } from 'millrace/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { submitForm } from '../../src/testing/submit-form.ts'
import { usersIn } from '../fixtures/accounts-app/accounts/users.server.ts'
import application from '../fixtures/accounts-app/app.ts'
import * as signInActions from '../fixtures/accounts-app/sign-in/actions.server.ts'
import { listeningOn } from '../support/listening.ts'
import { startSmtp } from '../support/smtp-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

test('a reset mail leads to the site, from whatever host of ORIGIN it was asked for', async () => {
  const folder = await makeTempDir('accounts')
  const smtp = await startSmtp()
  const ORIGIN = 'https://*.mills.test, https://mills.test'
  vi.stubEnv('SMTP_URL', smtp.url)
  vi.stubEnv('ORIGIN', ORIGIN)
  const app = createApp({
    app: application,
    config: readConfig({ DATA_DIR: folder.path, TRUST_PROXY: '127.0.0.1', ORIGIN }),
    log: pino({ level: 'silent' }),
    actions: { 'sign-in/actions.server.ts': signInActions },
  })
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    app.dispose()
    await smtp[Symbol.asyncDispose]()
    await folder.remove()
  })
  await using server = await listeningOn(createServer(app))
  usersIn({ dataDir: folder.path }).add('ann@example.com', null)

  const headers = { 'X-Forwarded-Host': 'evil.mills.test', 'X-Forwarded-Proto': 'https' }
  const visitor = createVisitor(`http://127.0.0.1:${server.port}`, { headers })
  const page = await visitor.get('/sign-in')
  const form = await submitForm(page.html, '#ask-reset', { email: 'ann@example.com' }, { page: page.url })
  const sent = { method: form.method, headers: { ...form.headers, Origin: 'https://evil.mills.test' } }
  expect((await visitor.fetch(form.url, { ...sent, body: form.body ?? null })).status).toBe(200)
  expect((await smtp.nextMail()).text).toContain('https://mills.test/reset?token=')
})
